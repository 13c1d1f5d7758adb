#!/usr/bin/env python3
"""Captures that a pool of processes reads, each by itself, explained together.

    examples/on-processes.py trace.pcap0 trace.pcap1 …

Prints what `whyslow trace.pcap0 trace.pcap1 …` prints. Needs `pip install whyslow`.
"""

import multiprocessing
import sys

import whyslow


def rows_of(path):
    """What a process gives of a file: a few bytes of each packet."""
    return [(path, row) for row in whyslow.condense(path)]


def main(paths):
    # No fork: it would share what threads of this process hold.
    with multiprocessing.get_context("spawn").Pool() as pool:
        print(whyslow.stitch(pair for rows in pool.imap_unordered(rows_of, paths) for pair in rows))


if __name__ == "__main__":
    main(sys.argv[1:])
