"""The table on standard output, as text or Markdown, and the JSON file."""

import json
import os
import textwrap

UNITS = {  # unit -> (factor, suffix), the largest first
    "messages/s": ((1e6, " M/s"), (1e3, " k/s"), (1, " /s")),
    "bytes/s": ((1e9, " GB/s"), (1e6, " MB/s"), (1, " B/s")),
    "ns": ((1e6, " ms"), (1e3, " us"), (1, " ns")),
    "percent": ((1, " %"),),
    "count": ((1, ""),),
    "ratio": ((1, ""),),
}
HEADINGS = ("measurement", "measured", "compared with", "ratio", "target", "")
WIDTHS = (37, 28, 28, 22, 9, 7)
VERDICTS = {True: "met", False: "NOT MET", None: ""}


def number(value):
    """Three digits, but all that stand before the point."""
    return f"{value:.0f}" if abs(value) >= 100 or value == 0 else f"{value:.3g}"


def scale(unit, value):
    for factor, suffix in UNITS[unit]:
        if abs(value) >= factor:
            return factor, suffix
    return UNITS[unit][-1]


def with_spread(samples, unit):
    """Median (min..max) unit."""
    if samples is None:
        return ""
    factor, suffix = scale(unit, samples.median)
    median, least, most = (number(value / factor)
                           for value in (samples.median, samples.least, samples.most))
    return f"{median} ({least}..{most}){suffix}"


def target_text(row):
    if row.target is None:
        return ""
    sign = ">=" if row.target.at_least else "<="
    unit = "ratio" if row.target.of == "ratio" else row.unit
    factor, suffix = scale(unit, row.target.limit)
    return f"{sign} {number(row.target.limit / factor)}{suffix}"


def cells_of(row):
    return (row.name, with_spread(row.figure, row.unit), with_spread(row.ceiling, row.unit),
            with_spread(row.ratio, "ratio"), target_text(row), VERDICTS[row.met])


class Report:
    """Prints each measurement when it is done, and keeps all for the JSON file."""

    def __init__(self, environment, options, markdown):
        self._markdown = markdown
        self._result = {**environment, "options": options, "measurements": []}
        self._met = []
        self._below = []  # what would cut a Markdown table in pieces
        self.failed = 0
        spread = f"median (min..max) of {options['runs']} runs of {options['seconds']:g} s each"
        dirty = " with uncommitted changes" if environment["uncommitted_changes"] else ""
        say(f"{environment['cpu_model']}, {environment['cores']} cores; commit "
            f"{environment['commit'][:12]}{dirty}; {environment['date']}; {spread}\n")
        self._line(HEADINGS)
        if markdown:
            self._line(["---"] * len(HEADINGS))

    def add(self, measurement, outcome, commands, other_load):
        for row in outcome.rows:
            self._line(cells_of(row))
        notes = list(outcome.notes)
        if other_load > 0.05:
            notes.append(f"other work took {other_load:.0%} of the cores meanwhile: measure again")
        for note in notes:
            self._explain(measurement, note)
        for title, table in outcome.tables.items():
            self._explain(measurement, title, table)
        self._met += [row.met for row in outcome.rows if row.met is not None]
        self._keep(measurement, commands, {
            "notes": notes, "other_load": round(other_load, 4), "tables": outcome.tables,
            "rows": [row_json(row) for row in outcome.rows],
            "details": [row_json(row) for row in outcome.details]})

    def add_failure(self, measurement, commands, error):
        self.failed += 1
        self._line((measurement.name, "FAILED", "", "", "", ""))
        self._explain(measurement, str(error))
        self._keep(measurement, commands, {"error": str(error), "rows": []})

    def close(self, interrupted):
        self._result["interrupted"] = interrupted
        for text in self._below:
            say(text)
        say(f"\n{sum(self._met)} of {len(self._met)} targets met"
            + (f", {self.failed} measurements failed" if self.failed else "")
            + (", interrupted" if interrupted else ""))

    def write(self, file):
        json.dump(self._result, file, indent=1)
        file.write("\n")

    def _line(self, cells):
        if self._markdown:
            say("| " + " | ".join(cells) + " |")
        else:
            say(" ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS)).rstrip())

    def _explain(self, measurement, text, table=None):
        if self._markdown:
            lines = table and [" | ".join(["", *row, ""]).strip() for row in
                               [table[0], ["---"] * len(table[0]), *table[1:]]]
            self._below.append(f"\n{measurement.name}: {text}"
                               + ("\n\n" + "\n".join(lines) if lines else ""))
            return
        for line in text.splitlines():
            say(textwrap.fill(line.strip(), 120, initial_indent="    ", subsequent_indent="      ",
                              break_on_hyphens=False, break_long_words=False))
        if table:
            say(aligned(table, indent=6))

    def _keep(self, measurement, commands, found):
        self._result["measurements"].append({
            "name": measurement.name, "target": measurement.target, "commands": commands, **found})


def row_json(row):
    target = row.target and {"at_least" if row.target.at_least else "at_most": row.target.limit,
                             "of": row.target.of}
    return {"name": row.name, "unit": row.unit, "figure": row.figure.to_json(),
            "ceiling": row.ceiling and row.ceiling.to_json(),
            "ratio": row.ratio and row.ratio.to_json(), "target": target, "met": row.met}


def aligned(table, indent):
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    return "\n".join(" " * indent + "  ".join(
        f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in table)


def say(text):
    print(text, flush=True)


class Progress:
    """One changing line on a terminal; nothing elsewhere."""

    def __init__(self, stream):
        self._stream = stream if stream.isatty() else None

    def show(self, text):
        if self._stream:
            width = os.get_terminal_size(self._stream.fileno()).columns or 80
            self._stream.write("\r\033[K" + text[:max(0, width - 1)])
            self._stream.flush()

    def clear(self):
        if self._stream:
            self._stream.write("\r\033[K")
            self._stream.flush()
