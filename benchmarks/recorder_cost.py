"""What reading and comparing flight-recorder dumps costs: `python -m benchmarks.recorder_cost` for 1,024 of them."""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator

from benchmarks.dumps import FAULTS, Job, dumps, read_all
from diagnose.recorder.comparison import compare
from diagnose.recorder.dump import Dump, placed


def main() -> None:
    """Prints what reading and comparing cost, without the making of the dumps."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--ranks", type=int, default=1024)
    options.add_argument("--entries", type=int, default=2020)
    options.add_argument("--fault", choices=FAULTS, default="swap")
    options.add_argument("--form", choices=("pickle", "json"), default="pickle")
    given = options.parse_args()
    job = Job(ranks=given.ranks, entries=given.entries, fault=given.fault, form=given.form)
    making_s, total_bytes = 0.0, 0

    def timed() -> Iterator[tuple[str, bytes]]:
        nonlocal making_s, total_bytes
        made = dumps(job)
        while True:
            start = time.process_time()
            item = next(made, None)
            making_s += time.process_time() - start
            if item is None:
                return
            total_bytes += len(item[1])
            yield item

    start = time.process_time()
    read = [dump for dump in read_all(timed()) if isinstance(dump, Dump)]
    reading_s = time.process_time() - start - making_s
    start = time.process_time()
    reports = compare(placed(read))
    comparing_s = time.process_time() - start
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    first = reports[0].first
    entries = sum(len(dump) for dump in read)
    print(f"{given.ranks} dumps, {entries:,} entries, {total_bytes / 2**20:,.0f} MiB of {given.form}")
    print(f"fault {job.fault} of rank {job.guilty}: found {first and (first.kind, first.ranks)}")
    print(
        f"CPU: child {child.ru_utime + child.ru_stime:.1f} s, parent reading {reading_s:.1f} s, comparing {comparing_s:.1f} s"
    )
    print(f"peak memory: child {child.ru_maxrss / 1024:.0f} MiB, parent with the generator {own.ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
