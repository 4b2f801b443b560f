"""Figures of several repetitions, and rows that compare them with a ceiling and a target."""

import statistics
from dataclasses import dataclass, field


class MeasurementFailed(Exception):
    """Says why there is no figure."""


@dataclass(frozen=True)
class Samples:
    """One figure per repetition, in their order."""
    values: tuple

    @staticmethod
    def of(values):
        return Samples(tuple(float(value) for value in values))

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def least(self):
        return min(self.values)

    @property
    def most(self):
        return max(self.values)

    def over(self, other):
        """The ratio of each repetition to the same repetition of other."""
        return Samples.of(mine / theirs
                          for mine, theirs in zip(self.values, other.values, strict=True))

    def times(self, factor):
        return Samples.of(value * factor for value in self.values)

    def to_json(self):
        return {"median": self.median, "min": self.least, "max": self.most,
                "runs": list(self.values)}


@dataclass(frozen=True)
class Target:
    """What the median must reach: of the row's "ratio", or of its "figure" itself."""
    limit: float
    at_least: bool
    of: str = "ratio"

    def met_by(self, samples):
        if self.at_least:
            return samples.median >= self.limit
        return samples.median <= self.limit


def at_least(limit, of="ratio"):
    return Target(limit, True, of)


def at_most(limit, of="ratio"):
    return Target(limit, False, of)


@dataclass(frozen=True)
class Row:
    """A line of the report. Without a target it is there to explain the others."""
    name: str
    unit: str  # messages/s, bytes/s, ns, percent or count
    figure: Samples
    ceiling: Samples = None  # what the figure is compared with, in the same unit
    target: Target = None

    def __post_init__(self):
        if self.ceiling and self.ceiling.least <= 0:
            raise MeasurementFailed(f"{self.name}: what it is compared with measured nothing in "
                                    "one of the runs; more --seconds may help")

    @property
    def ratio(self):
        return None if self.ceiling is None else self.figure.over(self.ceiling)

    @property
    def met(self):
        """True or False, None without a target."""
        if self.target is None:
            return None
        return self.target.met_by(self.ratio if self.target.of == "ratio" else self.figure)


@dataclass
class Outcome:
    """What a measurement found."""
    rows: list
    notes: list = field(default_factory=list)  # sentences for the reader
    tables: dict = field(default_factory=dict)  # title -> list of rows of text, headings first
    details: list = field(default_factory=list)  # rows for the JSON file only
