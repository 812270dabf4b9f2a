"""P1, P3, P4, P5: one import of new members, phase by phase, each compared with its floor.

All four use the same jobs, because an import of 250,000 rows is too long to run four times.
"""

from lib.figure import AT_LEAST, AT_MOST, Figure


def phase_figure(bench, name, phase, floor, what, bar):
    runs = [(bench.rows / getattr(times, phase), bench.rows / floors[floor])
            for floors, times in bench.cycles()]
    return [Figure(name, what, "rows/s", bar, AT_LEAST, runs, disturbance=bench.disturbance,
                   notes={"cpu_seconds_of_last_run": bench.cycles()[-1][1].cpu[phase]})]


def commit(bench):
    return phase_figure(bench, "P1", "commit", "load",
                        f"commit of {bench.rows:,} new rows; floor: LOAD DATA of the final rows", 1.2)


def staging(bench):
    return phase_figure(bench, "P3", "staging", "stage",
                        "staging through nginx, 2 calls at a time; floor: LOAD DATA, a row each", 1.5)


def dry_run(bench):
    """The floor is P3's value: a client must not wait longer for the check of its rows than it needs to send them."""
    runs = [(bench.rows / times.dry_run, bench.rows / times.staging) for _, times in bench.cycles()]
    return [Figure("P4", "dry run with preview; floor: the rows/s of staging in the same run", "rows/s", 1.0, AT_LEAST, runs,
                   disturbance=bench.disturbance, notes={"cpu_seconds_of_last_run": bench.cycles()[-1][1].cpu["dry_run"]})]


def whole_job(bench):
    phases = {phase: [round(getattr(times, phase), 3) for _, times in bench.cycles()]
              for phase in ("staging", "dry_run", "commit", "whole")}
    runs = [(times.whole, floors["load"]) for floors, times in bench.cycles()]
    return [Figure("P5", "whole job, created to completed; floor: LOAD DATA of the final rows", "s",
                   1.4, AT_MOST, runs, disturbance=bench.disturbance, notes={"seconds": phases})]
