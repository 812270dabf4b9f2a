"""A measured figure: its reference value, its verdict, the table and build/bench.json.

Used by every module in figures/, which sets the target (bar) of each figure.
"""

import json
import platform
import statistics
from dataclasses import dataclass, field

AT_LEAST, AT_MOST = "at least", "at most"
DISTURBED = 0.1


class BrokenMeasurement(Exception):
    """The measurement is invalid: a failed request, or a wrong count. Fails the bench."""


@dataclass
class Figure:
    """`runs` are pairs of (value, floor), the floor None if there is none.

    The medians of the values and of the floors are shown; the ratio is the median of the ratios of the runs, because
    a machine that is temporarily slow slows down a value and its floor alike.
    `compared` names what is compared with the target: "ratio" (value / floor) or "value".
    `notes` are only written to the JSON file: the time of each part, other percentiles. `disturbance`: the share of
    all cores that other programs used in the meantime."""

    id: str
    what: str
    unit: str
    bar: float
    direction: str
    runs: list
    compared: str = "ratio"
    notes: dict = field(default_factory=dict)
    disturbance: float = 0.0

    @property
    def value(self):
        return statistics.median(value for value, _ in self.runs)

    @property
    def floor(self):
        floors = [floor for _, floor in self.runs if floor is not None]
        return statistics.median(floors) if floors else None

    @property
    def ratio(self):
        ratios = [value / floor for value, floor in self.runs if floor is not None]
        return statistics.median(ratios) if ratios else None

    @property
    def verdict(self):
        number = self.ratio if self.compared == "ratio" else self.value
        good = number >= self.bar if self.direction == AT_LEAST else number <= self.bar
        return "met" if good else "missed"

    def as_json(self):
        return {
            "id": self.id, "what": self.what, "unit": self.unit,
            "value": rounded(self.value), "floor": rounded(self.floor), "ratio": rounded(self.ratio),
            "bar": self.bar, "bar_is": self.direction, "bar_on": self.compared, "verdict": self.verdict,
            "runs": [{"value": rounded(value), "floor": rounded(floor),
                      "ratio": rounded(value / floor) if floor is not None else None}
                     for value, floor in self.runs],
            "disturbance": rounded(self.disturbance), "notes": self.notes,
        }


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


def table(figures):
    lines = [("figure", "what", "value", "floor", "ratio", "bar", "verdict")]
    for figure in figures:
        sign = "≥" if figure.direction == AT_LEAST else "≤"
        on_value = figure.compared == "value"
        verdict = figure.verdict + (" (disturbed)" if figure.disturbance > DISTURBED else "")
        bar = f"{sign} {figure.bar:g}" + (f" {figure.unit}" if on_value else "")
        lines.append((figure.id, figure.what, shown(figure.value, figure.unit),
                      shown(figure.floor, figure.unit), shown(figure.ratio), bar, verdict))
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
