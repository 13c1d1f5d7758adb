"""A task reads the files of one capture point, and gives Arrow batches."""

import whyslow
from pyspark.sql.datasource import (
    DataSourceReader,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)

from . import _files

COMPARISONS = {
    EqualTo: "equal",
    GreaterThan: "greater",
    GreaterThanOrEqual: "greater_equal",
    LessThan: "less",
    LessThanOrEqual: "less_equal",
}


def check_version(version):
    """Ends a task that another version has planned."""
    if version != whyslow.__version__:
        raise RuntimeError(
            f"whyslow {version} planned this, and this executor has {whyslow.__version__}: "
            "install one version on all"
        )


class CapturePoint(InputPartition):
    """Files that are read together, and the version of whyslow that has planned it."""

    def __init__(self, files):
        super().__init__(files)
        self.version = whyslow.__version__


class Reader(DataSourceReader):
    """Reads one table."""

    def __init__(self, options):
        self.options = options
        self.filters = []

    def partitions(self):
        files = _files.listed(self.options.paths)
        return [
            CapturePoint(files) for files in _files.capture_points(files, self.options.rotation)
        ]

    def read(self, partition):
        check_version(partition.version)
        lost = {}
        yield from self.batches(
            lambda table: read(partition.value, table, self.options, lost), lost
        )

    def batches(self, source, lost):
        """The table's batches: `source` yields those of a table, `lost` has unreadable files."""
        import pyarrow

        selection = self._selection(source)
        batches = map(pyarrow.record_batch, source(self.options.table))
        yield from _selected(batches, selection) if selection else batches
        if lost and self.options.table in ("files", "problems"):
            yield _unread(lost, self.options.table)

    def _selection(self, source):
        """Functions from a batch to a mask, for each option and filter that chooses rows."""
        options, selection = self.options, []
        if options.since or options.until:
            selection.append(_in_time(source, options))
        if options.server is not None:
            selection.append(lambda batch: _of_server(batch, options.server))
        if options.cause is not None:
            selection.append(lambda batch: _compared(batch, "cause", "equal", options.cause))
        selection.extend(self.filters)
        return selection


class PushingReader(Reader):
    """Takes filters from Spark, which must have been told to hand them over."""

    def pushFilters(self, filters):  # noqa: N802 Spark calls it so
        for one in filters:
            if isinstance(one, In) and len(one.attribute) == 1:
                self.filters.append(Pushed(one.attribute[0], "is_in", one.value))
            elif type(one) in COMPARISONS and len(one.attribute) == 1:
                self.filters.append(Pushed(one.attribute[0], COMPARISONS[type(one)], one.value))
            else:
                yield one


class Pushed:
    """A filter of Spark's. It is sent to the tasks."""

    def __init__(self, column, comparison, value):
        self.column, self.comparison, self.value = column, comparison, value

    def __call__(self, batch):
        return _compared(batch, self.column, self.comparison, self.value)


def read(files, table, options, lost):
    """Yields a table's batches of files that belong together.

    Those that cannot be read are added to `lost`, with their errors.
    """
    readable = [file for file in files if file not in lost]
    while readable:
        try:
            with _files.opened(readable) as inputs:
                rows = whyslow.table(
                    inputs, table, threads=options.threads, capture_point=options.capture_point
                ).batches()
                # Files are opened and read to their ends before the first row.
                first = next(rows, None)
                if first is not None:
                    yield first
                    yield from rows
                return
        except (OSError, whyslow.CaptureError) as error:
            file = getattr(error, "file", None) or getattr(error, "filename", None)
            # A file that is torn or missing costs itself alone.
            if file not in readable:
                raise
            readable.remove(file)
            lost[file] = error


def _selected(batches, selection):
    import pyarrow.compute as compute

    for batch in batches:
        mask = selection[0](batch)
        for more in selection[1:]:
            mask = compute.and_(mask, more(batch))
        # Null is not chosen, as in SQL.
        matching = batch.filter(mask)
        if matching.num_rows:
            yield matching


def _compared(batch, name, comparison, value):
    import pyarrow
    import pyarrow.compute as compute

    column = batch.column(name)
    if comparison == "is_in":
        return compute.is_in(column, pyarrow.array(list(value), column.type))
    return compute.call_function(comparison, [column, pyarrow.scalar(value, column.type)])


def _of_server(batch, server):
    import pyarrow.compute as compute

    name, colon, port = server.rpartition(":")
    is_port = bool(colon) and port.isdecimal() and (":" not in name or name.startswith("["))
    host = (name if is_port else server).strip("[]")
    mask = compute.or_kleene(
        _compared(batch, "server_name", "equal", host),
        _compared(batch, "server_address", "equal", host),
    )
    return (
        compute.and_(mask, _compared(batch, "server_port", "equal", int(port))) if is_port else mask
    )


def _in_time(source, options):
    """Chooses by when a row began; by its connection where it does not say."""
    import pyarrow
    import pyarrow.compute as compute

    def between(column):
        mask = compute.is_valid(column)
        if options.since:
            mask = compute.and_(
                mask, compute.greater_equal(column, pyarrow.scalar(options.since, column.type))
            )
        if options.until:
            mask = compute.and_(
                mask, compute.less(column, pyarrow.scalar(options.until, column.type))
            )
        return mask

    names = {name for name, *_ in whyslow.columns(options.table)}
    for own in ("start", "first_time", "time"):
        if own in names:
            return lambda batch: between(batch.column(own))

    uids = [pyarrow.array([], pyarrow.utf8())]
    for batch in map(pyarrow.record_batch, source("connections")):
        uids.append(batch.filter(between(batch.column("start"))).column("uid"))
    chosen = pyarrow.concat_arrays(uids)
    # What belongs to no connection is of all times.
    return lambda batch: compute.or_(
        compute.is_in(batch.column("uid"), chosen), compute.is_null(batch.column("connection"))
    )


def _unread(lost, table):
    """Rows for files that could not be read."""
    import pyarrow

    rows = []
    for file, error in lost.items():
        if table == "files":
            rows.append({"file": file, "problems": 1})
        else:
            rows.append(
                {
                    "file": file,
                    "problem": "unread",
                    "count": 1,
                    "detail": f"it could not be read: {error}",
                }
            )
    return pyarrow.RecordBatch.from_pylist(rows, schema=_schema(table))


def _schema(table):
    import pyarrow

    kinds = {
        "utf8": pyarrow.utf8(),
        "int64": pyarrow.int64(),
        "float64": pyarrow.float64(),
        "bool": pyarrow.bool_(),
        "timestamp[us, UTC]": pyarrow.timestamp("us", "UTC"),
        "list<int64>": pyarrow.list_(pyarrow.int64()),
    }
    return pyarrow.schema([(name, kinds[kind]) for name, kind, *_ in whyslow.columns(table)])
