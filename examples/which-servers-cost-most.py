#!/usr/bin/env python3
"""Which servers cost us most time, and why? A ranked table, and a picture of the worst connection.

    examples/which-servers-cost-most.py week/*.pcap* --tables week-tables --picture worst.svg

Files whose names differ only in their digits (trace.pcap0, trace.pcap1, …) are the rotated files
of one capture point: they are read together, so that a connection which crosses from one to the
next is whole. Transfers are written as Parquet files, one for each capture point, which DuckDB then
reads: ask it more, they stay where `--tables` says. Needs `pip install whyslow duckdb pyarrow`.
"""

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import duckdb
import pyarrow.parquet
import whyslow

RANKED = """
    select coalesce(server_name, server_address) || ':' || server_port as server, cause,
           sum(cause_s) as seconds, count(*) as transfers, arg_max(fix, cause_s) as fix
    from read_parquet(?) where cause is not null
    group by all order by seconds desc limit ?
"""
WORST = """
    select filename, connection from read_parquet(?, filename = true)
    where cause is not null order by cause_s desc limit 1
"""


def capture_points(paths):
    """The files of each capture point, by the name that they share."""
    points = defaultdict(list)
    for path in sorted(paths):
        points[re.sub(r"\d+", "#", str(path))].append(path)
    return points


def write(points, folder):
    """Writes the transfers of each capture point, a batch at a time.

    Returns the captures of each file that was written.
    """
    written = {}
    for place, (point, paths) in enumerate(points.items()):
        table = whyslow.table(paths, "transfers", capture_point=point)
        file = folder / f"transfers-{place}.parquet"
        try:
            with pyarrow.parquet.ParquetWriter(file, pyarrow.schema(table)) as writer:
                for batch in table.batches():
                    writer.write_batch(pyarrow.record_batch(batch))
        except (OSError, whyslow.CaptureError) as error:
            file.unlink()
            print(f"left out: {error}", file=sys.stderr)
            continue
        written[str(file)] = paths
    return written


def show(rows):
    print(f"{'seconds':>10}  {'transfers':>9}  {'cause':<22}  server, and what to do")
    for server, cause, seconds, transfers, fix in rows:
        what = fix or "nothing that a setting could do"
        print(f"{seconds:>10.3f}  {transfers:>9,}  {cause:<22}  {server}: {what}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument("--tables", type=Path, help="keep the Parquet files in this folder")
    parser.add_argument(
        "--picture", type=Path, help="write the worst connection's picture here, as SVG"
    )
    parser.add_argument("--most", type=int, default=10, help="rows of the table")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.tables or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        written = write(capture_points(options.captures), folder)
        if not written:
            sys.exit("no capture could be read")
        files = list(written)
        show(duckdb.execute(RANKED, [files, options.most]).fetchall())
        worst = duckdb.execute(WORST, [files]).fetchone()
    if options.picture and worst:
        file, connection = worst
        # A picture is made of packets, which are in the captures.
        options.picture.write_text(whyslow.explain(written[file]).plot(connection))
        print(f"\n{options.picture}: connection {connection} of {written[file][0]}")


if __name__ == "__main__":
    main()
