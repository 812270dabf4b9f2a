"""A plot of build/bench-growth.json as SVG: one panel for each operation, its cost by the number of members and events.

Usage without a measurement: tests/bench/lib/plot.py bench-growth.json bench-growth.svg
"""

import json
import math
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 340, 220, 60, 40, 40
COLUMNS = 2
COLORS = {"nginx": "#4c72b0", "musterd": "#dd8452", "mariadbd": "#55a868", "": "#333333"}


def short(number):
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if number >= unit:
            return f"{number / unit:g}{name}"
    return f"{number:g}"


def text(x, y, words, size=11, anchor="middle", color="#333333"):
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" fill="{color}">{escape(words)}</text>'


def round_step(top):
    """The distance of the ticks: about four of them, at round numbers."""
    rough = top / 4
    power = 10 ** math.floor(math.log10(rough))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= rough)


def apart(places, distance=11):
    """{name: y} with at least that distance between two labels, from the lowest to the highest."""
    moved, last = {}, math.inf
    for name, y in sorted(places.items(), key=lambda item: -item[1]):
        last = moved[name] = min(y, last - distance)
    return moved


def panel(name, unit, points, parts):
    """`points`: [(size, value)]; `parts`: {service: [(size, value)]}, drawn below the sum."""
    sizes = [size for size, _ in points]
    top = max(value for _, value in points) * 1.15
    right, floor = WIDTH - 20, HEIGHT - BOTTOM
    low, high = math.log10(min(sizes)), math.log10(max(sizes))

    def place(size, value):
        share = (math.log10(size) - low) / (high - low) if high > low else 0.5
        return LEFT + share * (right - LEFT), floor - value / top * (floor - TOP)

    lines = [text(WIDTH / 2, 16, name, 13), text(WIDTH / 2, 31, unit)]
    step = round_step(top)
    for tick in range(int(top / step) + 1):
        y = place(sizes[0], tick * step)[1]
        lines.append(f'<line x1="{LEFT}" y1="{y:.0f}" x2="{right}" y2="{y:.0f}" stroke="#dddddd"/>')
        lines.append(text(LEFT - 6, y + 4, short(tick * step), anchor="end"))
    lines += [text(place(size, 0)[0], floor + 16, short(size)) for size in sizes]
    for service, series in {"": points, **parts}.items():
        color = COLORS.get(service, "#888888")
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in series))
        lines.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{1 if service else 2}"/>')
        lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in (place(*point) for point in series)]
    labels = apart({service: place(*series[0])[1] - 4 for service, series in parts.items()})
    lines += [text(LEFT + 6, y, service, 10, "start", COLORS.get(service, "#888888")) for service, y in labels.items()]
    return lines


def plot(document):
    sizes = document["sizes"]
    names = list(sizes[0]["cost"])
    rows = -(-len(names) // COLUMNS)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * COLUMNS}" height="{HEIGHT * rows}" '
             'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>']
    for number, name in enumerate(names):
        costs = [(entry["size"], entry["cost"][name]) for entry in sizes]
        points = [(size, cost["value"]) for size, cost in costs]
        parts = {service: [(size, cost["cpu"][service]) for size, cost in costs] for service in costs[0][1]["cpu"]}
        x, y = number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT
        lines += [f'<g transform="translate({x},{y})">', *panel(name, costs[0][1]["unit"], points, parts), "</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"


def write_plot(source, target):
    with open(source, encoding="utf-8") as file:
        drawn = plot(json.load(file))
    with open(target, "w", encoding="utf-8") as file:
        file.write(drawn)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_plot(*sys.argv[1:])
