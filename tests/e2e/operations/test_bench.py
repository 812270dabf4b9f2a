"""The rules of the benchmark (tests/bench): its verdicts, its plot, and how it counts musterd's processes."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

import pytest
from costs_table import rows_of_table
from support.stack import ROOT, wait_for

sys.path.append(str(ROOT / "tests/bench"))

from lib import costly  # noqa: E402
from lib.figure import AT_LEAST, AT_MOST, Figure, Sample, alternate, rate_figure, table  # noqa: E402
from lib.plot import plot  # noqa: E402
from lib.workers import children, expected_groups, only_worker, worker_groups  # noqa: E402


class Server(NamedTuple):
    """What the benchmark reads of a stack."""

    build: Path
    folder: Path
    musterd: int

    def pids(self):
        return {"musterd": self.musterd}


def server_of(stack):
    return Server(stack.build, stack.folder, stack.pid("musterd"))


# ---------------------------------------------------------------------------- processes
def test_every_process_of_musterd_is_in_one_group(stack):
    server = server_of(stack)

    def all_are_counted():
        groups = worker_groups(server)
        counted = sorted(pid for pids in groups.values() for pid in pids)
        return groups if counted == sorted(children(server.musterd)) else None

    groups = wait_for(all_are_counted, "every child of musterd in one group")
    assert {"workers", "collectors"} <= groups.keys()


def test_the_only_worker_is_found_next_to_the_usual_number_of_collectors(stack):
    stack.restart_server(env={"MUSTER_SERVER_WORKERS": "1"})
    try:
        server = server_of(stack)
        groups = worker_groups(server)
        assert [only_worker(server)] == groups["workers"]
        assert len(groups["collectors"]) > 1
    finally:
        stack.restart_server()


def test_each_socket_names_its_group():
    settings = {"socket": "/run/a", "workers": "4", "reader_socket": "/run/b", "readers": "2", "socket_mode": "0660"}
    assert expected_groups(settings) == {"workers": ("/run/a", 4), "readers": ("/run/b", 2)}


# ---------------------------------------------------------------------------- verdicts
def ratio(runs, bar=0.5, direction=AT_LEAST, **more):
    return Figure("P0", "work", "req/s", bar, direction, runs, **more)


@pytest.mark.parametrize("figure, verdict", [
    (ratio([(60, 100), (61, 101)]), "met"),
    (ratio([(40, 100), (41, 101)]), "missed"),
    (ratio([(60, 100), (70, 120)]), "unsteady"),
    (ratio([(60, 100), (70, 120)], direction=AT_MOST, compared="value", bar=64), "missed"),
    (ratio([(99, 100), (120, 119)], bar=1.0, within_spread=True), "met"),
    (ratio([(98, 100), (117, 119)], bar=1.0, within_spread=True), "missed"),
    (ratio([(98, None)], bar=None), "-"),
])
def test_a_verdict_needs_a_steady_floor(figure, verdict):
    assert figure.verdict == verdict
    assert figure.as_json()["verdict"] == verdict


def test_every_second_run_begins_with_the_product():
    order = []
    pairs = alternate(3, lambda: order.append("product") or 2, lambda: order.append("floor") or 1)
    assert order == ["floor", "product", "product", "floor", "floor", "product"]
    assert pairs == [(2, 1)] * 3


def test_the_table_has_the_processor_time_next_to_each_rate():
    pairs = [(Sample(900, {"nginx": 70.0, "musterd": 101.6}), Sample(1000, {"nginx": 30.0, "floor_fixed": 9.0}))]
    figure = rate_figure("P9", "GET", 0.6, pairs)
    assert "172 (nginx 70, musterd 102)" in table([figure])
    assert "39 (nginx 30, floor_fixed 9)" in table([figure])
    assert figure.as_json()["cpu_us_per_request"] == {"nginx": 70.0, "musterd": 101.6}


# ---------------------------------------------------------------------------- the costly requests
def test_the_load_of_costly_requests_has_each_operation_above_class_s():
    heavy = {name for name, row in rows_of_table().items() if row.processor != "S"}
    assert costly.OPERATIONS | costly.NOT_SENT.keys() == heavy
    assert costly.OPERATIONS.isdisjoint(costly.NOT_SENT)


# ---------------------------------------------------------------------------- the plot
def test_the_plot_has_a_panel_for_each_operation():
    sizes = [{"size": size, "cost": {
        "GET /v1/users": {"unit": "µs of CPU", "value": 9.5, "cpu": {"nginx": 4.0, "musterd": 5.5}},
        "import & commit": {"unit": "rows/s", "value": 40_000, "cpu": {}},
    }} for size in (10_000, 100_000)]
    drawn = ElementTree.fromstring(plot({"sizes": sizes}))
    words = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"GET /v1/users", "import & commit", "10k", "100k", "musterd"} <= set(words)
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}polyline"))) == 4
