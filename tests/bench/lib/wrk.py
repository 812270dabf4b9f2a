"""Load on an HTTPS address with wrk.

wrk uses a part of the processors. Muster and the floor are measured in the same way, so the effect on both is equal.
"""

import os
import re
import subprocess
from typing import NamedTuple

from lib.figure import BrokenMeasurement, Sample

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
CONNECTIONS = 64
MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000}


class Load(NamedTuple):
    rate: float  # requests/s
    p50: float  # ms
    p99: float  # ms
    requests: int  # that were answered; up to one more for each connection was in progress at the end
    faults: str  # wrk's lines about answers other than 2xx and 3xx, and about connections


def start(port, script, seconds, environment, connections=CONNECTIONS):
    """Load by the script for that long, in a session of its own."""
    command = ["wrk", f"-t{min(2, connections)}", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "10s",
               "-s", os.path.join(HERE, script), f"https://127.0.0.1:{port}/"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True,
                            env={**os.environ, **environment})


def result(process, most=None):
    """The Load of a process of start(), when it has ended, after `most` seconds at the latest."""
    try:
        shown, _ = process.communicate(timeout=most)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise BrokenMeasurement("wrk does not end") from None
    number = re.search(r"^Requests/sec:\s*([\d.]+)", shown, flags=re.MULTILINE)
    if process.returncode or not number:
        raise BrokenMeasurement(f"wrk: {shown[-300:]}")
    faults = re.findall(r"^\s*((?:Socket errors|Non-2xx).*)", shown, flags=re.MULTILINE)
    count = re.search(r"^\s*(\d+) requests in", shown, flags=re.MULTILINE)
    return Load(float(number.group(1)), percentile(shown, 50), percentile(shown, 99), int(count.group(1)),
                ", ".join(faults))


def percentile(shown, share):
    number, unit = re.search(rf"^\s*{share}%\s*([\d.]+)(us|ms|s)", shown, flags=re.MULTILINE).groups()
    return float(number) * MILLISECONDS[unit]


def load(port, script, seconds, environment, connections=CONNECTIONS):
    """Load by the script for that long. A failed request ends the measurement."""
    process = start(port, script, seconds, environment, connections)
    seen = result(process)
    if seen.faults:
        raise BrokenMeasurement(f"wrk: {seen.faults}")
    return seen


def measured_load(bench, target, script, seconds, environment, connections=CONNECTIONS):
    """(the Load on `target`, its Sample). `target` has a port and the services that answer there."""
    with bench.meter() as meter:
        seen = load(target.port, script, seconds, environment, connections)
    note = {"p50_ms": seen.p50, "p99_ms": seen.p99, "others_share": round(meter.others_share(), 2),
            "wrk_us_per_request": round(meter.spent["client"] / seen.requests * 1e6, 1)}
    return seen, Sample(seen.rate, meter.microseconds_each(target.answering(), seen.requests), note)
