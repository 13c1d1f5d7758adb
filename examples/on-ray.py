#!/usr/bin/env python3
"""Captures that tasks of Ray read, each by itself, explained together.

    examples/on-ray.py trace.pcap0 trace.pcap1 …

Prints what `whyslow trace.pcap0 trace.pcap1 …` prints. Needs `pip install whyslow "ray[data]"`.
"""

import sys

import ray
import whyslow


def condense(batch):
    """What a task gives of its files: a few bytes of each packet, in rows of at most 1 MiB."""
    for path in batch["path"]:
        for row in whyslow.condense(str(path)):
            yield {"file": [str(path)], "row": [row]}


def main(paths):
    # A file's rows have to stay together and in order.
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    files = ray.data.from_items([{"path": path} for path in paths], override_num_blocks=len(paths))
    rows = files.map_batches(condense, batch_size=1)
    print(whyslow.stitch((row["file"], bytes(row["row"])) for row in rows.iter_rows()))


if __name__ == "__main__":
    main(sys.argv[1:])
