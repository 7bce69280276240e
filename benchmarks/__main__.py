"""The command line: ``python -m benchmarks list | run NAME``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import catalogue
from benchmarks.harness.bench import Bench, Skip
from benchmarks.harness.files import write_report


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "list":
        for name, summary in catalogue.summaries().items():
            print(f"{name:18} {summary}")
        return 0
    status = 0
    for name in options.names:
        status = max(status, _run(name, options))
    return status


def _run(name: str, options: argparse.Namespace) -> int:
    begin = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="partwise-") as scratch:
            bench = Bench(
                name, options.quick, options.out, Path(scratch), only=options.only
            )
            report = catalogue.load(name)(bench)
        if options.only and not bench.left_out:
            raise Skip(f"--only {options.only} left nothing out: it names no part")
    except Skip as reason:
        print(f"{name}: skipped: {reason}", file=sys.stderr)
        return 1
    written = write_report(bench, report, time.perf_counter() - begin)
    print(written.read_text(encoding="utf-8"))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the benchmarks")
    run = commands.add_parser("run", help="run benchmarks and write their results")
    run.add_argument(
        "names", nargs="+", choices=list(catalogue.summaries()), metavar="NAME"
    )
    run.add_argument(
        "--quick",
        action="store_true",
        help="a small version: a slice of the data, or generated data where there "
        "is none; goals are not judged",
    )
    run.add_argument(
        "--only",
        default="",
        metavar="TEXT",
        help="take only the data sets whose names contain this, where a benchmark "
        "has several",
    )
    run.add_argument(
        "--out",
        type=Path,
        default=Path("build/benchmarks"),
        help="where results are written (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
