"""A measured figure: its reference value, its verdict, the table and build/bench.json.

Used by every module in figures/, which sets the target (bar) of each figure.
"""

import json
import platform
import statistics
from dataclasses import dataclass, field
from typing import NamedTuple

AT_LEAST, AT_MOST = "at least", "at most"
DISTURBED = 0.1
UNSTEADY = 0.15


class BrokenMeasurement(Exception):
    """The measurement is invalid: a failed request, or a wrong count. Fails the bench."""


class Sample(NamedTuple):
    """One run: its rate, the microseconds of processor time per request in each service, and a note for the JSON file."""

    rate: float
    cpu: dict
    note: dict = {}


@dataclass
class Figure:
    """`runs` are pairs of (value, floor), the floor None if there is none.

    The medians of the values and of the floors are shown; the ratio is the median of the ratios of the runs, because
    a machine that is temporarily slow slows down a value and its floor alike. A ratio to a floor whose runs differ by more
    than 15 % has no verdict: "unsteady".
    `bar`: None for a figure without a target. `compared` names what is compared with the target: "ratio" (value / floor) or
    "value". `within_spread`: the target is met if a run meets it; for a target of "no worse than before".
    `cpu`: a pair for each run, the microseconds of processor time per request in each service, of the value and of the floor.
    `notes` are only written to the JSON file: the time of each part, other percentiles. `disturbance`: the share of
    all cores that other programs used in the meantime."""

    id: str
    what: str
    unit: str
    bar: float | None
    direction: str
    runs: list
    compared: str = "ratio"
    within_spread: bool = False
    cpu: list = field(default_factory=list)
    notes: dict = field(default_factory=dict)
    disturbance: float = 0.0

    @property
    def value(self):
        return statistics.median(value for value, _ in self.runs)

    @property
    def floors(self):
        return [floor for _, floor in self.runs if floor is not None]

    @property
    def floor(self):
        return statistics.median(self.floors) if self.floors else None

    @property
    def floor_spread(self):
        """The difference between the largest and the smallest floor, as a part of the median."""
        return (max(self.floors) - min(self.floors)) / self.floor if self.floor else None

    @property
    def ratios(self):
        return [value / floor for value, floor in self.runs if floor is not None]

    @property
    def ratio(self):
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def number(self):
        """The number that is compared with the target."""
        return self.value if self.compared == "value" or not self.ratios else self.ratio

    @property
    def verdict(self):
        if self.bar is None:
            return "-"
        if self.compared == "ratio" and not self.within_spread and self.floor_spread > UNSTEADY:
            return "unsteady"
        numbers = self.ratios if self.within_spread else [self.number]
        good = max(numbers) >= self.bar if self.direction == AT_LEAST else min(numbers) <= self.bar
        return "met" if good else "missed"

    def cpu_of(self, side):
        """{service: the median of its runs}; side 0 is the value, 1 the floor."""
        runs = [pair[side] for pair in self.cpu if pair[side]]
        return {name: statistics.median(run[name] for run in runs) for name in runs[0]} if runs else {}

    def as_json(self):
        return {
            "id": self.id, "what": self.what, "unit": self.unit,
            "value": rounded(self.value), "floor": rounded(self.floor), "floor_spread": rounded(self.floor_spread),
            "ratio": rounded(self.ratio), "bar": self.bar, "bar_is": self.direction, "bar_on": self.compared,
            "within_spread": self.within_spread, "verdict": self.verdict,
            "cpu_us_per_request": self.cpu_of(0), "floor_cpu_us_per_request": self.cpu_of(1),
            "runs": [self.run_as_json(number) for number in range(len(self.runs))],
            "disturbance": rounded(self.disturbance), "notes": self.notes,
        }

    def run_as_json(self, number):
        value, floor = self.runs[number]
        run = {"value": rounded(value), "floor": rounded(floor), "ratio": rounded(value / floor) if floor else None}
        if self.cpu:
            run["cpu_us_per_request"], run["floor_cpu_us_per_request"] = self.cpu[number]
        return run


def disturbance_of(samples):
    """The median share of the processors that other programs used, in the samples that have noted it."""
    shares = [sample.note["others_share"] for sample in samples if "others_share" in sample.note]
    return statistics.median(shares) if shares else 0.0


def rate_figure(name, what, bar, pairs, unit="req/s", **more):
    """The figure of pairs of samples (value, floor), compared by their rates."""
    return Figure(name, what, unit, bar, AT_LEAST, [(value.rate, floor.rate) for value, floor in pairs],
                  cpu=[(value.cpu, floor.cpu) for value, floor in pairs],
                  notes={"of_each_run": [value.note for value, _ in pairs]},
                  disturbance=disturbance_of([sample for pair in pairs for sample in pair]), **more)


def alternate(runs, measure, measure_floor):
    """Pairs of results (value, floor). Every second run measures the value first, so that a drift of the machine does not
    favor one of them."""
    pairs = []
    for number in range(runs):
        if number % 2:
            value = measure()
            pairs.append((value, measure_floor()))
        else:
            floor = measure_floor()
            pairs.append((measure(), floor))
    return pairs


def rounded(number):
    """More than four digits would exceed the precision of the measurement."""
    return None if number is None else float(f"{number:.4g}")


def shown(number, unit=""):
    if number is None:
        return "-"
    text = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
    return f"{text} {unit}".strip()


def percentile(numbers, share):
    """The nearest rank: the smallest number that at least `share` of all do not exceed."""
    ordered = sorted(numbers)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def cost(cpu):
    """For example "272 (nginx 69, musterd 102, mariadbd 101)"."""
    if not cpu:
        return "-"
    return f"{sum(cpu.values()):.0f} ({', '.join(f'{name} {spent:.0f}' for name, spent in cpu.items())})"


def row(figure):
    sign = "≥" if figure.direction == AT_LEAST else "≤"
    bar = "-" if figure.bar is None else f"{sign} {figure.bar:g}"
    if figure.bar is not None and figure.compared == "value":
        bar += f" {figure.unit}"
    spread = "-" if figure.floor_spread is None else f"{figure.floor_spread:.0%}"
    verdict = figure.verdict + (" (disturbed)" if figure.disturbance > DISTURBED else "")
    return (figure.id, figure.what, shown(figure.value, figure.unit), shown(figure.floor, figure.unit), spread,
            shown(figure.ratio), bar, verdict, cost(figure.cpu_of(0)), cost(figure.cpu_of(1)))


def table(figures):
    lines = [("figure", "what", "value", "floor", "its spread", "ratio", "bar", "verdict", "CPU µs per request",
              "the floor's"), *map(row, figures)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in lines)


def machine():
    """The machine of the measurement."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(file.readline().split()[1]) // 1024
    with open("/proc/loadavg", encoding="ascii") as file:
        load = file.read().split()[:3]
    return {"cpu": models[0] if models else platform.machine(), "cores": len(models) or None,
            "memory_mib": memory, "kernel": platform.release(), "load_before": " ".join(load)}


def write_json(path, where, settings, figures, broken):
    document = {"machine": where, "settings": settings,
                "figures": [figure.as_json() for figure in figures], "broken": broken}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, ensure_ascii=False)
        file.write("\n")
