"""P17: the memory of the programs under their largest requests."""

import threading

from lib.client import Client, Job
from lib.figure import AT_MOST, BrokenMeasurement, Figure
from lib.people import bodies, people
from lib.workers import children, only_worker

STAGING_CALLS = 50
ONE_WORKER = {"MUSTER_SERVER_WORKERS": "1"}  # so that every call reaches the same process


def peaks(bench):
    runner = Figure("P17", f"muster-run, peak of a {bench.rows:,}-row import", "MiB", 64, AT_MOST,
                    [(runner_peak(bench), None)], compared="value")
    bench.stack.restart_musterd(**ONE_WORKER)
    try:
        staging, reports = worker_after_staging(bench), report_peaks(bench)
    finally:
        bench.stack.restart_musterd()
    return [runner,
            Figure("P17", f"a worker after {STAGING_CALLS} staging calls of 5,000 rows", "MiB", 64, AT_MOST,
                   [(staging, None)], compared="value"),
            Figure("P17", f"a worker's peak, error report of {bench.rows:,} rows; floor: a tenth of them",
                   "MiB", 1.1, AT_MOST, [reports])]


def memory(pid, name):
    """VmRSS or VmHWM (the peak) in MiB; None if the process has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))
    except (OSError, StopIteration):
        return None


def forget_peak(pid):
    with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


# ---------------------------------------------------------------------------- the runner
class PeakWatch:
    """with PeakWatch(parent) as watch: …  Then watch.most: the highest peak of the parent's children."""

    def __init__(self, parent):
        self.parent, self.most, self.done = parent, 0.0, threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.done.wait(0.05):
            for pid in children(self.parent):
                self.most = max(self.most, memory(pid, "VmHWM") or 0.0)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def runner_peak(bench):
    """For the dry run and the commit: the runner that commits has often also validated the rows."""
    bench.stack.reset()
    with PeakWatch(bench.stack.pids()["runner"]) as watch:
        bench.run_job(created_count=bench.rows)
    if not watch.most:
        raise BrokenMeasurement("no muster-run process was found")
    return watch.most


# ---------------------------------------------------------------------------- the worker
def worker_after_staging(bench):
    bench.stack.reset()
    client = Client(bench.stack)
    worker = only_worker(bench.stack)
    job = Job(client, bench.rows)
    texts = (bench.bodies * STAGING_CALLS)[:STAGING_CALLS]
    for text in texts:
        job.stage([text], [client])
    if only_worker(bench.stack) != worker:
        raise BrokenMeasurement("the worker was replaced during the measurement")
    client.post(job.path + "/cancel")
    return memory(worker, "VmRSS")


def report_peaks(bench):
    """(peak with all rows, peak with a tenth of them): the text is in a file, so they are nearly equal."""
    few = report_peak(bench, bench.rows // 10)
    return report_peak(bench, bench.rows), few


def report_peak(bench, count):
    """The peak of a worker while it sends the error report of `count` rows, all of them invalid."""
    bench.stack.reset()
    client = Client(bench.stack)
    job = Job(client, count)
    job.stage(bodies(invalid_people(count)), [client])
    job.move("validate")
    if job.wait("validated")["invalid_rows"] != count:
        raise BrokenMeasurement("not every row was found invalid")
    # A new worker: memory kept from staging would hide the memory of the report.
    bench.stack.restart_musterd(**ONE_WORKER)
    client.connect()
    job.read()
    worker = only_worker(bench.stack)
    forget_peak(worker)
    lines = client.call("GET", job.path + "/error-report").count(b"\r\n")
    if lines != count + 1 or only_worker(bench.stack) != worker:
        raise BrokenMeasurement(f"the report has {lines} lines instead of {count + 1}")
    return memory(worker, "VmHWM")


def invalid_people(count):
    for payload in people(count, seed=17):
        payload["attributes"]["shirt_size"] = "enormous"
        yield payload
