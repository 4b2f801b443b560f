#!/usr/bin/env python3
"""Plants one protocol bug after the other and wants the simulator to find each.

    mutants.py [NAME...]        all of tests/sim/mutants, or those
    mutants.py --rotate 4       as many of the quick ones: which, is chosen by the day
    mutants.py --rotate 4 --day 7
    mutants.py --table          the results as a table for docs/protocol.md
    mutants.py --apply          only: does each still apply?

A mutant is a file: a line that says what is broken, `key: value` lines (breaks: the invariants;
file: where; scenario: where else than in swarm it may show; order: of the groups, if it is not
round_robin; quick: yes, if it is found in few seeds; first: the seed to begin with, not long before
one that shows it, if few do; program: domain, if topics on simulated groups, tests/domain, are to
find it), then the change: texts after `--- find`, each to be found exactly once, and what stands
instead after `--- replace`. Its program is the simulator of the build folder (--build, default
build/release), of which only the objects that have the changed file in them are compiled anew.

Seeds run in rising chunks, in turn in swarm and the mutant's scenario, at most 2,000 in all, until
one is wrong: a violation, an assertion, a crash, or far more processor time than any seed takes.
One line per mutant. Exits 1 if one is not found, 2 if one cannot be judged: it no longer applies,
does not compile, or somebody else ended its run.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().with_name("mutants")
SEEDS_MAX = 2000
CHUNK_FIRST = 10
CPU_S = 60          # a seed takes 0.2 s of processor time on average
CPU_PER_SEED_S = 3
MEMORY_BYTES = 4 << 30
# What each program runs of the library; the rest is only linked.
LAYERS = {"tutti": {"base", "fabric", "sst", "flow", "smc", "predicates", "multicast", "ring",
                    "membership", "requests", "engine", "sim"},
          "domain": {"base", "xcdr", "log", "dds"}}
OBJECT = re.compile(r"CMakeFiles/tutti_(\w+)\.dir/.*\.o$")
# Where a compiler notes what it read: Ninja's business.
DEPENDENCIES = re.compile(r" -MD -MT \S+ -MF \S+")
VIOLATION = {"tutti": re.compile(r"seed (\d+): (\w+)"),
             "domain": re.compile(r"seed (\d+): ([a-z ]+):")}


class Refused(Exception):
    """The mutant could not be judged; mostly it must be renewed."""


class Mutant:
    def __init__(self, path):
        self.name = path.stem
        head, *changes = re.split(r"^--- find\n", path.read_text(encoding="utf-8"), flags=re.M)
        self.title, *lines = head.strip().split("\n")
        keys = dict(line.split(": ", 1) for line in lines)
        self.breaks = keys["breaks"]
        self.file = keys["file"]
        self.scenario = keys.get("scenario")
        self.order = keys.get("order", "round_robin")
        self.quick = keys.get("quick") == "yes"
        self.first = int(keys.get("first", 1))
        self.program = keys.get("program", "tutti")
        self.changes = [tuple(change.split("--- replace\n")) for change in changes]
        if not self.changes or any(len(change) != 2 for change in self.changes):
            raise Refused("it is not: find, replace")

    def source(self):
        """The changed file."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        for find, replace in self.changes:
            if text.count(find) != 1:
                raise Refused(f"{self.file} has {text.count(find)} times, not once:\n{find}")
            text = text.replace(find, replace)
        return text

    def runs(self, seeds):
        """Chunks (scenario, first, last) in the order in which they run."""
        scenarios = ["swarm"] + ([self.scenario] if self.scenario else [])
        if self.program == "domain":
            scenarios = ["domain"]
        left, first, size = seeds, self.first, CHUNK_FIRST
        while left > 0:
            for scenario in scenarios:
                count = min(size, left)
                if count > 0:
                    yield scenario, first, first + count - 1
                left -= count
            first += size
            size *= 2


class Build:
    """A built program: how its objects were compiled and linked, and from what."""

    def __init__(self, folder, program):
        self.folder = folder
        cache = (folder / "CMakeCache.txt").read_text(encoding="utf-8")
        self.program_of_ninja = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.*)$", cache, re.M)[1]
        self.compile = {}
        for entry in json.loads(self.ninja("-t", "compdb")):
            layer = OBJECT.match(entry["output"])
            own = entry["output"].startswith(f"tests/CMakeFiles/{program}.dir/")
            if own or (layer and layer[1] in LAYERS[program]):
                source = Path(os.path.normpath(folder / entry["file"]))
                command = shlex.split(DEPENDENCIES.sub("", entry["command"]))
                self.compile[entry["output"]] = (source, command)
        self.link = shlex.split(self.ninja("-t", "commands", f"bin/{program}").splitlines()[-1])
        self.needs = {}
        for line in self.ninja("-t", "deps").splitlines():
            if line.endswith(")") and ": #deps" in line:
                needs = self.needs.setdefault(line.split(":")[0], set())
            elif line.strip():
                needs.add(os.path.normpath(folder / line.strip()))

    def ninja(self, *arguments):
        return subprocess.run([self.program_of_ninja, "-C", self.folder, "--quiet", *arguments],
                              check=True, capture_output=True, text=True).stdout

    def outputs(self, file):
        """Objects of the program that have the file in them."""
        changed = os.path.normpath(ROOT / file)
        found = [out for out in self.compile if changed in self.needs.get(out, ())]
        own = [out for out in found if out.startswith("tests/")]
        if own and file.endswith(".cpp"):
            return own  # the program compiles it itself, and the library's is not linked
        found = [out for out in found if out not in own]
        core = next((out for out in self.compile if out.endswith("sim/core.cpp.o")), None)
        # The templates of those .cpp files are instantiated for the simulator's memory in core.cpp.
        return [out for out in found
                if out == core or str(self.compile[out][0]) not in self.needs.get(core, ())]

    def program(self, mutant, folder):
        changed = folder / mutant.file
        changed.parent.mkdir(parents=True)
        changed.write_text(mutant.source(), encoding="utf-8")
        objects = []
        link = [*self.link]
        for number, output in enumerate(self.outputs(mutant.file)):
            source, command = self.compile[output]
            source = self.mutated(source, mutant, folder)
            objects.append(str(folder / f"{number}.o"))
            flags = command[:command.index("-o")]
            include = next(i for i, flag in enumerate(flags) if flag.startswith("-I"))
            flags.insert(include, f"-I{folder / 'src'}")
            self.run([*flags, "-w", "-O1", "-g0", "-o", objects[-1], "-c", str(source)])
            link = [word for word in link if word != output]
        if not objects:
            raise Refused(f"{mutant.file} is not a part of {mutant.program}")
        program = folder / mutant.program
        link[link.index("-o") + 1] = str(program)
        # Before every library: from there only what is still missing is taken.
        library = next(i for i, word in enumerate(link) if word.startswith("lib/libtutti")
                       or "gtest" in word)
        link[library:library] = objects
        self.run(link[:link.index("&&", 2)] if "&&" in link[2:] else link)
        return program

    @staticmethod
    def mutated(source, mutant, folder):
        """What is compiled instead: the changed file, or the unity build's list with it in it."""
        original, changed = ROOT / mutant.file, folder / mutant.file
        if source == original:
            return changed
        if source.parent.name != "Unity":
            return source
        listed = folder / source.parent.parent.name / source.name
        listed.parent.mkdir(exist_ok=True)
        text = source.read_text(encoding="utf-8").replace(f'"{original}"', f'"{changed}"')
        listed.write_text(text, encoding="utf-8")
        return listed

    def run(self, command):
        command = [word for word in command if word not in (":", "&&")]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refused(f"{shlex.join(command)}\n{done.stderr}")


def command_of(program, order, scenario, first, last):
    if scenario == "domain":
        return ["env", f"TUTTI_DOMAIN_FIRST={first}", f"TUTTI_DOMAIN_SEEDS={last - first + 1}",
                program, "--gtest_filter=DomainSimulation.EveryProperty*"]
    return [program, "sim", "--order", order, "--scenario", scenario, "--seeds",
            f"{first}..{last}", "--jobs", "1"]


def simulate(program, order, scenario, first, last):
    """What went wrong first: (seed, property); seed None: some of them. Nothing if all is well."""
    limit = CPU_S + CPU_PER_SEED_S * (last - first)
    command = ["prlimit", f"--cpu={limit}:{limit + CPU_S}", "--core=0", f"--as={MEMORY_BYTES}",
               *command_of(program, order, scenario, first, last)]
    violation = VIOLATION["domain" if scenario == "domain" else "tutti"]
    text = []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        for line in process.stderr:
            if found := violation.search(line):
                process.kill()
                return int(found[1]), found[2]
            text.append(line)
    if process.returncode == 0:
        return None
    if process.returncode > 0:
        raise Refused(f"{shlex.join(map(str, command))}\n{''.join(text)}")
    ended = signal.Signals(-process.returncode)
    if ended in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        raise Refused(f"{shlex.join(map(str, command))}\nwas ended by somebody else: {ended.name}")
    what = {signal.SIGABRT: "assertion", signal.SIGXCPU: "no end"}.get(ended, ended.name)
    if first == last:
        return first, what
    for seed in range(first, last + 1):
        if found := simulate(program, order, scenario, seed, seed):
            return found
    return None, what


class Result:
    def __init__(self, mutant):
        self.mutant = mutant
        self.found = None   # property, or how the program ended
        self.where = ""
        self.seeds = 0
        self.refused = None


def judge(builds, mutant, seeds):
    build = builds[mutant.program]
    result = Result(mutant)
    try:
        with tempfile.TemporaryDirectory() as folder:
            program = build.program(mutant, Path(folder))
            for scenario, first, last in mutant.runs(seeds):
                found = simulate(program, mutant.order, scenario, first, last)
                if found:
                    seed, result.found = found
                    result.seeds += (last if seed is None else seed) - first + 1
                    result.where = f"{scenario} {last if seed is None else seed}"
                    break
                result.seeds += last - first + 1
    except Refused as refused:
        result.refused = str(refused)
    return result


def line_of(result):
    if result.refused:
        return f"{result.mutant.name:32} NOT JUDGED, renew it: {result.refused}"
    if not result.found:
        return f"{result.mutant.name:32} SURVIVED {result.seeds} seeds: {result.mutant.title}"
    return (f"{result.mutant.name:32} {result.found:10} {result.where:16} "
            f"after {result.seeds:4} seeds")


def table_of(results):
    rows = ["| mutant | what is broken | breaks | found as | seeds |",
            "| --- | --- | --- | --- | --- |"]
    for one in results:
        rows.append(f"| `{one.mutant.name}` | {one.mutant.title} | {one.mutant.breaks} | "
                    f"{one.found or 'not'} ({one.where}) | {one.seeds} |")
    return "\n".join(rows)


def chosen(options):
    mutants = []
    for path in sorted(FOLDER.glob("*.mutant")):
        try:
            mutants.append(Mutant(path))
        except (KeyError, ValueError, Refused) as error:
            sys.exit(f"{path}: {error}")
    unknown = set(options.names) - {mutant.name for mutant in mutants}
    if unknown:
        sys.exit(f"there is no mutant {', '.join(sorted(unknown))}")
    if options.names:
        return [mutant for mutant in mutants if mutant.name in options.names]
    if options.rotate:
        day = datetime.date.today().toordinal() if options.day is None else options.day
        quick = [mutant for mutant in mutants if mutant.quick]
        random.Random(0).shuffle(quick)
        print(f"day {day}: {options.rotate} of {len(quick)}")
        return [quick[(day * options.rotate + i) % len(quick)] for i in range(options.rotate)]
    return mutants


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="all of them (the default)")
    parser.add_argument("--rotate", type=int, metavar="N", help="N quick ones, others every day")
    parser.add_argument("--day", type=int, help="with --rotate: the day's number")
    parser.add_argument("--apply", action="store_true", help="only apply them, run nothing")
    parser.add_argument("--seeds", type=int, default=SEEDS_MAX, help="at most, for each")
    parser.add_argument("--table", action="store_true", help="print a table, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    mutants = chosen(options)
    results = []
    if options.apply:
        for mutant in mutants:
            try:
                mutant.source()
            except Refused as refused:
                results.append(Result(mutant))
                results[-1].refused = str(refused)
                print(line_of(results[-1]))
    else:
        builds = {program: Build(options.build.resolve(), program)
                  for program in {mutant.program for mutant in mutants}}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for done in concurrent.futures.as_completed(
                    [pool.submit(judge, builds, mutant, options.seeds) for mutant in mutants]):
                results.append(done.result())
                print(line_of(results[-1]), flush=True)
    results.sort(key=lambda one: one.mutant.name)
    refused = sum(one.refused is not None for one in results)
    survived = 0 if options.apply else sum(not one.found for one in results) - refused
    if options.table:
        print(table_of(results))
    print(f"{len(mutants)} mutants, {survived} survived, {refused} not judged")
    return 2 if refused else 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
