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
        found, lost = explained(partition.value, self.options)
        yield from self.batches(found, lost)

    def batches(self, found, lost):
        """The table's batches: of an analysis, and of the files that could not be read."""
        import pyarrow

        if found is not None:
            table = pyarrow.RecordBatchReader.from_stream(getattr(found, self.options.table))
            selection = self._selection(found)
            yield from _selected(table, selection) if selection else table
        if lost and self.options.table in ("files", "problems"):
            yield _unread(lost, self.options.table)

    def _selection(self, found):
        """Functions from a batch to a mask, for each option and filter that chooses rows."""
        options, selection = self.options, []
        if options.since or options.until:
            selection.append(_in_time(found, options))
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


def explained(files, options):
    """Explains files that belong together. Returns those that cannot be read with their errors."""
    files, lost = list(files), []
    while files:
        try:
            with _files.opened(files) as inputs:
                return whyslow.explain(
                    inputs, threads=options.threads, capture_point=options.capture_point
                ), lost
        except (OSError, whyslow.CaptureError) as error:
            file = getattr(error, "file", None) or getattr(error, "filename", None)
            # A file that is torn or missing costs itself alone.
            if file not in files:
                raise
            files.remove(file)
            lost.append((file, error))
    return None, lost


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


def _in_time(found, options):
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

    connections = pyarrow.table(found.connections)
    chosen = connections.filter(between(connections["start"]))["connection"].combine_chunks()

    def mask(batch):
        names = batch.schema.names
        for own in ("start", "first_time"):
            if own in names:
                return between(batch.column(own))
        # What belongs to no connection is of all times.
        return compute.or_(
            compute.is_in(batch.column("connection"), chosen),
            compute.is_null(batch.column("connection")),
        )

    return mask


def _unread(lost, table):
    """Rows for files that could not be read."""
    import pyarrow

    rows = []
    for file, error in lost:
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
