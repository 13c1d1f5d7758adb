#!/usr/bin/env python3
"""Which servers cost us most time, and why? A ranked table, and a picture of the worst connection.

    examples/which-servers-cost-most.py week/*.pcap* --picture worst.svg

Files whose names differ only in their digits (trace.pcap0, trace.pcap1, …) are the rotated files
of one capture point: they are read together, so that a connection which crosses from one to the
next is whole. Needs `pip install whyslow duckdb`.
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

import duckdb
import whyslow

RANKED = """
    select coalesce(server_name, server_address) || ':' || server_port as server, cause,
           sum(cause_s) as seconds, count(*) as transfers, arg_max(fix, cause_s) as fix
    from transfers where cause is not null
    group by all order by seconds desc limit ?
"""
WORST = (
    "select point, connection from transfers where cause is not null order by cause_s desc limit 1"
)


def capture_points(paths):
    """The files of each capture point, by the name that they share."""
    points = defaultdict(list)
    for path in sorted(paths):
        points[re.sub(r"\d+", "#", str(path))].append(path)
    return points


def load(database, points):
    """Reads all captures into the table `transfers`.

    Returns the analysis of each capture point, for pictures.
    """
    analyses = {}
    for point, paths in points.items():
        try:
            found = whyslow.explain(paths, capture_point=point)
        except (OSError, whyslow.CaptureError) as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        # DuckDB reads it by Arrow.
        database.register("here", found.transfers)
        what = "insert into transfers by name" if analyses else "create table transfers as"
        database.execute(f"{what} select ? as point, * from here", [point])
        analyses[point] = found
    return analyses


def show(rows):
    print(f"{'seconds':>10}  {'transfers':>9}  {'cause':<22}  server, and what to do")
    for server, cause, seconds, transfers, fix in rows:
        what = fix or "nothing that a setting could do"
        print(f"{seconds:>10.3f}  {transfers:>9,}  {cause:<22}  {server}: {what}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument(
        "--picture", type=Path, help="write the worst connection's picture here, as SVG"
    )
    parser.add_argument("--most", type=int, default=10, help="rows of the table")
    options = parser.parse_args()

    database = duckdb.connect()
    analyses = load(database, capture_points(options.captures))
    if not analyses:
        sys.exit("no capture could be read")
    show(database.execute(RANKED, [options.most]).fetchall())
    worst = database.execute(WORST).fetchone()
    if options.picture and worst:
        point, connection = worst
        options.picture.write_text(analyses[point].plot(connection))
        print(f"\n{options.picture}: connection {connection} of {point}")


if __name__ == "__main__":
    main()
