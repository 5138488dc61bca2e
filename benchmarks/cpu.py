"""All CPU benchmarks: ``python benchmarks/cpu.py [--quick] [--only NAME]``; see README.md here."""

from __future__ import annotations

import argparse
from pathlib import Path

import dask_cpu
import directories
import grids_cpu
import groups_cpu
import intervals_cpu
import kernels_cpu
import lists_cpu
import merge_asof_cpu
import out_of_core
import sort_cpu
import stream
import windows_cpu
from timing import ROOT, Bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, three rounds; to see that it runs"
    )
    parser.add_argument(
        "--only", default="", metavar="NAME", help="only benchmarks whose name contains this"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="default: results/cpu/records.json, or quick.json there with --quick",
    )
    options = parser.parse_args()
    results = ROOT / "benchmarks" / "results" / "cpu"
    output = options.output or results / ("quick.json" if options.quick else "records.json")

    bench = Bench(quick=options.quick, only=options.only)
    for part in (
        kernels_cpu,
        groups_cpu,
        intervals_cpu,
        grids_cpu,
        lists_cpu,
        sort_cpu,
        merge_asof_cpu,
        windows_cpu,
        dask_cpu,
        out_of_core,
        stream,
        directories,
    ):
        part.run(bench)
    bench.save(output)
    missed = [record for record in bench.records if record.get("met") is False]
    for record in missed:
        print(f"MISSED: {record['name']} against {record['peer']}: {record['target']}")


if __name__ == "__main__":
    main()
