"""Each file is condensed by a task of its own, and each capture point stitched by one."""

import json
from itertools import chain, groupby
from operator import attrgetter
from typing import NamedTuple

import whyslow

from . import _files
from ._options import Options
from ._reader import Reader, check_version

ROWS = "point long, file string, number long, row binary, lost string"


class Row(NamedTuple):
    """A row of a condensed capture, or why there is none of a file."""

    point: int
    file: str
    number: int
    row: bytes
    lost: str | None


def stitched(spark, paths, options):
    """See the package's `stitched`."""
    reader = Reader(Options.parse({**options, **_named(paths)}))
    files = _files.listed(reader.options.paths)
    points = _files.capture_points(files, reader.options.rotation)
    plan = [(point, file) for point, files in enumerate(points) for file in files]
    version = whyslow.__version__
    frame = spark.createDataFrame(plan, "point long, file string").repartition(len(plan), "file")
    rows = frame.mapInArrow(lambda batches: _condense(batches, version), ROWS)
    # The order inside a partition is promised behind a sort, and nowhere else.
    rows = rows.repartition("point").sortWithinPartitions("point", "file", "number")
    return rows.mapInArrow(lambda batches: _stitch(batches, reader), reader.options.schema())


def _named(paths):
    return {"paths": json.dumps(paths)}


def _condense(batches, version):
    import pyarrow

    check_version(version)
    kinds = [pyarrow.int64(), pyarrow.utf8(), pyarrow.int64(), pyarrow.binary(), pyarrow.utf8()]
    schema = pyarrow.schema(list(zip(Row._fields, kinds, strict=True)))
    for batch in batches:
        for point, file in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            # Each batch has one row, of at most 1 MiB: far below what a JVM's array takes.
            for row in _rows(point, file):
                yield pyarrow.RecordBatch.from_pylist([row._asdict()], schema=schema)


def _rows(point, file):
    try:
        with _files.local(file) as path:
            for number, row in enumerate(whyslow.condense(path)):
                yield Row(point, file, number, row, None)
    except (OSError, whyslow.CaptureError) as error:
        # Behind the rows that came before it.
        yield Row(point, file, 1 << 62, b"", str(error))


def _stitch(batches, reader):
    rows = (
        Row(*values)
        for batch in batches
        for values in zip(*batch.to_pydict().values(), strict=True)
    )
    for _, of_point in groupby(rows, attrgetter("point")):
        lost = {}
        readable = _readable(of_point, lost)
        first = next(readable, None)
        source = _nothing if first is None else _tables(chain([first], readable), reader.options)
        yield from reader.batches(source, lost)


def _readable(rows, lost):
    for row in rows:
        if row.lost is None:
            yield row.file, row.row
        else:
            lost[row.file] = row.lost


def _nothing(_):
    return iter(())


def _tables(rows, options):
    """A function that gives the batches of a table, of rows that are taken here."""
    stitched = whyslow.stitch(
        rows, table=options.table, threads=options.threads, capture_point=options.capture_point
    )
    return lambda table: stitched.table(table).batches()
