"""Each file is condensed by a task of its own; what belongs together is stitched by others.

Without shards a task stitches a capture point. With them, a task stitches a shard of its
connections, and a small one merges the shards of a point.
"""

import json
from itertools import chain, groupby
from operator import attrgetter
from typing import NamedTuple

import whyslow

from . import _files
from ._options import Options, count
from ._reader import Reader, check_version

ROWS = "point long, shard long, file string, number long, row binary, lost string"
MOST_SHARDS = 64
# Behind the rows that came before it.
LAST = 1 << 62


class Row(NamedTuple):
    """A row of a condensed capture or of a shard, or why there is none of a file."""

    point: int
    shard: int
    file: str
    number: int
    row: bytes
    lost: str | None


def stitched(spark, paths, options):
    """See the package's `stitched`."""
    options = dict(options)
    shards = count("shards", options.pop("shards", "1"), MOST_SHARDS)
    reader = Reader(Options.parse({**options, **_named(paths)}))
    if shards > 1 and reader.options.table == "packets":
        raise ValueError("whyslow: packets are of a capture point in one piece: leave `shards` out")
    files = _files.listed(reader.options.paths)
    points = _files.capture_points(files, reader.options.rotation)
    plan = [(point, file) for point, files in enumerate(points) for file in files]
    version = whyslow.__version__
    frame = spark.createDataFrame(plan, "point long, file string").repartition(len(plan), "file")
    rows = frame.mapInArrow(lambda batches: _condense(batches, shards, version), ROWS)
    if shards > 1:
        rows = _together(rows, len(points) * shards, "point", "shard")
        rows = rows.mapInArrow(lambda batches: _account(batches, reader.options, version), ROWS)
    merge = _stitch if shards == 1 else _merge
    rows = _together(rows, len(points), "point")
    return rows.mapInArrow(lambda batches: merge(batches, reader), reader.options.schema())


def _together(rows, keys, *columns):
    """Brings what has the same key together, in order.

    A task takes long for its bytes, so that Spark is not to make one of several; it spreads keys by
    their hashes, so that there are more partitions than keys.
    """
    spread = rows.repartition(min(3 * keys, 4096), *columns)
    # The order inside a partition is promised behind a sort, and nowhere else.
    return spread.sortWithinPartitions("point", "shard", "file", "number")


def _named(paths):
    return {"paths": json.dumps(paths)}


def _condense(batches, shards, version):
    check_version(version)
    for batch in batches:
        for point, file in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            for row in _rows(point, file, shards):
                yield _batch(row)


def _rows(point, file, shards):
    try:
        with _files.local(file) as path:
            for number, (shard, row) in enumerate(whyslow.condense(path, shards=shards)):
                yield Row(point, shard, file, number, row, None)
    except (OSError, whyslow.CaptureError) as error:
        yield Row(point, 0, file, LAST, b"", str(error))


def _batch(row):
    """A batch of one row, of at most 1 MiB: far below what a JVM's array takes."""
    import pyarrow

    kinds = [pyarrow.int64(), pyarrow.int64(), pyarrow.utf8(), pyarrow.int64()]
    kinds += [pyarrow.binary(), pyarrow.utf8()]
    schema = pyarrow.schema(list(zip(Row._fields, kinds, strict=True)))
    return pyarrow.RecordBatch.from_pylist([row._asdict()], schema=schema)


def _given(batches):
    for batch in batches:
        for values in zip(*batch.to_pydict().values(), strict=True):
            yield Row(*values)


def _readable(rows, lost):
    for row in rows:
        if row.lost is None:
            yield row
        else:
            lost[row.file] = row.lost


def _account(batches, options, version):
    """What a shard gives of its connections."""
    check_version(version)
    for (point, shard), of_shard in groupby(_given(batches), attrgetter("point", "shard")):
        lost = {}
        readable = ((row.file, row.row) for row in _readable(of_shard, lost))
        first = next(readable, None)
        if first is not None:
            rows = chain([first], readable)
            given = whyslow.stitch_shard(rows, every=True, threads=options.threads)
            for number, row in enumerate(given):
                yield _batch(Row(point, shard, "", number, row, None))
        for file, why in lost.items():
            yield _batch(Row(point, shard, file, LAST, b"", why))


def _stitch(batches, reader):
    """The rows of capture points, from those of their files."""
    for _, of_point in groupby(_given(batches), attrgetter("point")):
        yield from _tables(of_point, reader, whyslow.stitch, attrgetter("file", "row"))


def _merge(batches, reader):
    """The rows of capture points, from what their shards gave."""
    for _, of_point in groupby(_given(batches), attrgetter("point")):
        yield from _tables(of_point, reader, whyslow.merge, attrgetter("shard", "row"))


def _tables(rows, reader, join, pair):
    """The batches of a capture point's table."""
    options, lost = reader.options, {}
    readable = map(pair, _readable(rows, lost))
    first = next(readable, None)
    if first is None:
        yield from reader.batches(lambda _: iter(()), lost)
        return
    joined = join(
        chain([first], readable),
        table=options.table,
        threads=options.threads,
        capture_point=options.capture_point,
    )
    yield from reader.batches(lambda table: joined.table(table).batches(), lost)
