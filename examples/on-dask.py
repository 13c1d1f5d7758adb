#!/usr/bin/env python3
"""Captures that tasks of Dask read, each by itself, and explain by capture points.

    examples/on-dask.py trace.pcap0 trace.pcap1 …

Prints the causes that cost most time. Files whose names differ only in digits are of one capture
point. Needs `pip install whyslow dask pandas pyarrow`.
"""

import re
import sys
from itertools import chain

import dask
import pandas
import pyarrow
import whyslow


@dask.delayed
def rows_of(path):
    """What a task gives of a file: a few bytes of each packet."""
    return [(path, row) for row in whyslow.condense(path)]


@dask.delayed
def transfers(of_files):
    """What a task makes of the files of a capture point."""
    table = whyslow.stitch(chain.from_iterable(of_files), table="transfers")
    return pyarrow.RecordBatchReader.from_stream(table).read_all().to_pandas()


def main(paths):
    points = {}
    for path in sorted(paths):
        points.setdefault(re.sub(r"\d+", "#", path), []).append(rows_of(path))
    tables = dask.compute(*map(transfers, points.values()), scheduler="processes")
    causes = pandas.concat(tables).groupby("cause")["cause_s"].agg(["sum", "count"])
    print(causes.sort_values("sum", ascending=False).to_csv(sep="\t"), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
