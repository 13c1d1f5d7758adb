"""Give it a packet capture; it says why each TCP transfer was slow.

    import whyslow

    a = whyslow.explain("slow.pcap")        # a path, bytes, a file, or a list of them
    print(a)                                # the verdict, with evidence and fix
    a.connections[0].transfers[0].verdict   # all that `whyslow --json` prints, as attributes
    polars.DataFrame(a.transfers)           # tables, by Arrow: polars, pandas, pyarrow, DuckDB

`table` reads a table of any number of connections, `scan` many files, one after the other; both
give Arrow record batches as they come. `compare` says what differs between two transfers,
`predict` how long a transfer would take that nobody has made yet. `columns` lists the columns of
a table.
"""

import json
import os
import shutil
import tempfile
from itertools import groupby
from operator import itemgetter

from . import _whyslow, types
from ._notebook import html
from ._objects import attributes, listed
from ._sources import inputs_of, named
from ._whyslow import CaptureError, RecordBatch, __version__

__all__ = [
    "Analysis",
    "CaptureError",
    "Comparison",
    "Prediction",
    "RecordBatch",
    "StreamedTable",
    "Table",
    "__version__",
    "columns",
    "compare",
    "condense",
    "explain",
    "merge",
    "predict",
    "scan",
    "stitch",
    "stitch_shard",
    "table",
    "types",
]

TABLES = ("connections", "transfers", "findings", "files", "problems", "rounds", "packets")


class Table:
    """A table of an analysis: a row for each connection, transfer, finding, file or problem.

    It is an Arrow table to whatever takes one (`polars.DataFrame(t)`, `pyarrow.table(t)`,
    `pandas.DataFrame.from_arrow(t)`, `duckdb.sql("from t")`), with a fresh stream each time; and
    a list of the JSON's objects, one for each row.
    """

    def __init__(self, analysis, name):
        self._analysis = analysis
        self._name = name
        self._arrow = analysis._native.table(name, analysis._capture_point)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._arrow.stream(requested_schema)

    def __arrow_c_schema__(self):
        return self._arrow.schema()

    def __len__(self):
        return self._arrow.rows()

    # No `collections.abc.Sequence`: polars would take its objects for the rows.
    def __getitem__(self, index):
        return self._analysis._objects(self._name)[index]

    def __iter__(self):
        return iter(self._analysis._objects(self._name))

    def batches(self):
        """Its record batches, of at most 8,192 rows, one after the other."""
        return self._arrow.batches()

    def __repr__(self):
        return f"<whyslow.Table {self._name}: {len(self)} rows>"


class StreamedTable:
    """A table of captures with the rows of every connection, however many there are.

    It is an Arrow stream to whatever takes one (`polars.DataFrame(t)`,
    `pyarrow.RecordBatchReader.from_stream(t)`, `duckdb.sql("from t")`), and an iterator of record
    batches. The captures are read each time, on another thread, and a few batches are held.
    """

    def __init__(self, begin, name, inputs, spooled):
        self._begin = begin
        self._native = begin(name)
        self._name = name
        self._inputs = inputs
        # What was no file is kept in one as long as it may be read.
        self._spooled = spooled

    def __arrow_c_stream__(self, requested_schema=None):
        return self._native.stream(requested_schema)

    def __arrow_c_schema__(self):
        return self._native.schema()

    # No iterator: polars would take batches for rows.
    def batches(self):
        """Yields its record batches, of at most 8,192 rows, as they come."""
        try:
            yield from self._native.batches()
        except CaptureError as error:
            raise named(error, self._inputs) from None

    def table(self, name):
        """Another table of the same captures."""
        _check(name)
        return StreamedTable(self._begin, name, self._inputs, self._spooled)

    def __repr__(self):
        return f"<whyslow.StreamedTable {self._name}>"


class Analysis:
    """What was found in captures that were read together.

    Has the members of the JSON (`whyslow --json`, docs/json.md) as attributes. Of these
    `connections` and `findings` are tables as well, and so are `transfers`, `files`, `problems`
    and `rounds`; `packets` is a streamed one.
    """

    def __init__(self, native, spooled, capture_point):
        self._native = native
        # What was no file is kept in one until nobody can ask for its packets any more.
        self._spooled = spooled
        self._capture_point = capture_point
        self._document = None
        self._lists = {}
        self._picture = None

    @property
    def connections(self):
        """A row for each connection."""
        return Table(self, "connections")

    @property
    def transfers(self):
        """A row for each transfer: times, bytes, limits, the costliest cause."""
        return Table(self, "transfers")

    @property
    def findings(self):
        """A row for each finding: of transfers, of connections, and of several connections."""
        return Table(self, "findings")

    @property
    def files(self):
        """A row for each input."""
        return Table(self, "files")

    @property
    def problems(self):
        """A row for what an input or a connection cannot show."""
        return Table(self, "problems")

    @property
    def rounds(self):
        """A row for each round of a transfer."""
        return Table(self, "rounds")

    @property
    def packets(self):
        """A row for each packet of these connections, with what was found of it.

        The captures are read again for it.
        """

        def begin(name):
            if name != "packets":
                raise ValueError(f"{name!r} is an attribute of the Analysis")
            return self._native.packets(self._capture_point)

        return StreamedTable(begin, "packets", [], self._spooled)

    @property
    def verdict(self):
        """The verdict in a sentence."""
        return self._native.headline()[0]

    @property
    def advice(self):
        """What to do, and how long it would then take; None where there is nothing to do."""
        return self._native.headline()[1]

    def to_dict(self):
        """What `whyslow --json` prints, as dictionaries and lists."""
        return json.loads(self._native.json())

    def plot(self, connection=None, track="time-sequence", size=(1200, 600)):
        """A picture of a connection as SVG; without a number that of the largest transfer's.

        `track` is time-sequence, in-flight, rtt, throughput, window or io. The capture is read
        again for it.
        """
        return self._native.svg(connection, track, size)

    def __getattr__(self, name):
        # Only what is no attribute otherwise comes here.
        if name.startswith("_") or not hasattr(document := self._objects("."), name):
            raise AttributeError(f"an Analysis has no {name!r}", name=name, obj=self)
        return getattr(document, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *vars(self._objects("."))})

    def __str__(self):
        return self._native.page(shutil.get_terminal_size((100, 24)).columns)

    def __repr__(self):
        files = len(self.files)
        what = f"{files} file{'s' * (files != 1)}, {len(self.connections)} connections"
        return f"<whyslow.Analysis of {what}: {self.verdict}>"

    def _repr_html_(self):
        if self._picture is None:
            self._picture = self._drawn()
        return html(self, self._picture)

    def _drawn(self):
        try:
            return self.plot(size=(1000, 420))
        except (OSError, RuntimeError, KeyError, CaptureError):
            # There is none of a capture without connections, or whose file is there no more.
            return ""

    def _objects(self, name):
        """The JSON's objects in the order of a table's rows; of `.` the document itself."""
        if self._document is None:
            self._document = attributes(self._native.json())
        if name not in self._lists:
            self._lists[name] = listed(self._document, name)
        return self._lists[name]


class _Document:
    """A document of the command line: its members as attributes, its page as text."""

    def __init__(self, text, page):
        self._text = text
        self._page = page
        self._members = attributes(text)

    def to_dict(self):
        """The document as dictionaries and lists."""
        return json.loads(self._text)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._members, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *vars(self._members)})

    def __str__(self):
        return self._page


class Comparison(_Document):
    """What differs between two transfers: what `whyslow compare --json` prints."""


class Prediction(_Document):
    """How long a transfer would take: what `whyslow predict --json` prints."""


def explain(source, *, threads=None, path_rate=None, progress=None, capture_point=""):
    """Reads captures, and says why their transfers were slow.

    `source` is a path, a URL (`s3://`, `gs://`, `az://`, `https://`; `*` and `?` in its key stand
    for anything but `/`), the bytes of a capture, a file object opened for bytes, or a list of
    these. Several files are read as on the command line: those that follow each other in time are
    one capture, so that a connection which crosses from one to the next is whole; others are
    captures of several places, and compared.

    `threads` is how many to use (all processors unless told; the result is the same). `path_rate`
    is what the path carries, payload bits per second, if you know. `progress(read, total)` is
    called with bytes, about twenty times a second, on the calling thread; `total` is None where
    it is not known, and an exception ends the reading. `capture_point` is your name for where the
    captures were taken; it is part of `uid` in the tables.

    Raises OSError (FileNotFoundError, …) for what cannot be read, and CaptureError, with `file`
    and `offset`, for what is no capture. A capture that is damaged further on is explained as far
    as it goes, and `problems` says so. Ctrl-C ends the reading at once.
    """
    inputs, spooled = inputs_of(source)
    native = _read(inputs, threads, path_rate, progress)
    return Analysis(native, spooled, capture_point)


def table(source, name="transfers", *, threads=None, path_rate=None, capture_point=""):
    """A table of captures that are read together, with the rows of every connection.

    `source` is what `explain` takes, and `name` one of connections, transfers, findings, files,
    problems, rounds and packets. An Analysis holds the connections that lost the most time, 10,000
    of a set of captures; this holds a few batches of rows. Nothing is read yet: whoever takes the
    Arrow stream, or asks for `batches()`, reads the captures. What cannot be read raises as in
    `explain` from `batches()`, and by a stream what its reader makes of an error.
    """
    inputs, spooled = inputs_of(source)
    return _streamed(inputs, spooled, name, threads, path_rate, capture_point)


def scan(
    paths, *, table="transfers", threads=None, path_rate=None, capture_point="", errors="raise"
):
    """Reads many captures, each on its own, and yields the record batches of a table.

    Every connection has its rows, and memory holds a few batches. `errors` says what happens to a
    file that cannot be read: `raise`, or `skip`, where its batches are missing, and a list, which
    is given the exceptions. A connection that crosses from one file to another is two here: `table`
    of a list has it whole.
    """
    _check(table)
    if errors not in ("raise", "skip") and not isinstance(errors, list):
        raise ValueError("errors is 'raise', 'skip', or a list that is given the exceptions")
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        inputs, spooled = inputs_of(path)
        rows = _streamed(inputs, spooled, table, threads, path_rate, capture_point)
        try:
            yield from rows.batches()
        except (OSError, CaptureError) as error:
            if errors == "raise":
                raise
            if isinstance(errors, list):
                errors.append(error)


def condense(path, *, shards=None):
    """Yields the rows of a condensed capture: of each packet what `explain` reads, in a few bytes.

    A row is bytes, at most 1 MiB of them. The rows of many captures, read anywhere and in any
    order, are explained together by `stitch`.

    With `shards` (1 to 64) it yields pairs of a shard's number, from 0, and a row: each connection
    is in one shard, by a hash of its addresses and ports that is the same everywhere. What
    `stitch_shard` gives of the shards, `merge` puts together.
    """
    return _whyslow.condense(os.fspath(path), shards)


def stitch_shard(rows, *, every=False, threads=None, path_rate=None):
    """Explains the connections of one shard of a capture point, and yields what `merge` takes.

    `rows` yields pairs of a file's name and one of its rows of this shard, as those that `stitch`
    takes; the shard has rows of every file. What is yielded are bytes, of at most 1 MiB each. With
    `every`, all connections are sent and not those alone that an analysis may list: tables need it.
    """
    return _kept(rows).account(every, threads, path_rate)


def merge(rows, *, table=None, threads=None, path_rate=None, progress=None, capture_point=""):
    """Puts the shards of a capture point together.

    `rows` yields pairs of a shard's number and what `stitch_shard` gave of it: that of a shard in
    order and together, shards in any order, all of one version of whyslow. What is found is what
    `stitch` finds in the rows of all shards; with the name of a table, all of its rows (but those
    of `packets`, which stay where the shards were explained).
    """
    if table is None:
        return Analysis(_kept(rows).merge(threads, path_rate, progress), [], capture_point)
    _check(table)
    kept = _kept(rows)

    def begin(name):
        if name == "packets":
            raise ValueError("packets are not merged: stitch the capture point in one piece")
        return kept.table(name, threads, path_rate, capture_point)

    return StreamedTable(begin, table, [], [])


def _kept(rows):
    kept, empty = _whyslow.KeptRows(), True
    for name, row in rows:
        kept.push(str(name), row)
        empty = False
    if empty:
        raise ValueError("there is nothing to stitch: no row came")
    return kept


def stitch(rows, *, table=None, threads=None, path_rate=None, progress=None, capture_point=""):
    """Explains condensed captures as the captures that they were made of.

    `rows` yields pairs of a file's name and one of its rows: those of a file in order and together,
    files in any order. What is found is what `explain` finds in a list of these files; with the
    name of a table, what `table` gives. The rows are kept in temporary files as long as the result
    lives.
    """
    folder = tempfile.TemporaryDirectory(prefix="whyslow-")
    inputs = []
    for place, (_, of_file) in enumerate(groupby(rows, itemgetter(0))):
        path = os.path.join(folder.name, str(place))
        with open(path, "wb") as file:
            file.writelines(row for _, row in of_file)
        inputs.append((path, None))
    if not inputs:
        raise ValueError("there is nothing to stitch: no row came")
    if table is not None:
        return _streamed(inputs, [folder], table, threads, path_rate, capture_point)
    return Analysis(_read(inputs, threads, path_rate, progress), [folder], capture_point)


def compare(a, b):
    """What differs between two transfers, in seconds a phase.

    Each is a path (`"slow.pcap"`, or `"slow.pcap#3.2"` for transfer 2 of connection 3), an
    Analysis, or a pair of an Analysis and `"3"` or `"3.2"`. What is not named is the largest
    transfer.
    """
    return Comparison(*_whyslow.compare(_transfer(a), _transfer(b)))


def predict(bytes, rtt, **settings):
    """How long a transfer would take that nobody has made yet, and what each change would bring.

    `bytes` is its payload and `rtt` the path's round trip in seconds. Settings, as those of
    `whyslow predict`, in bytes, seconds, segments and bits per second: rate, queue, loss (0 to
    1), way (download, upload), tls (none, 1.2, 1.3), cc (reno, cubic, bbr), initcwnd, ssthresh,
    initrwnd, rwnd, sndbuf, mss, think, reuse, idle, keep_window, count.
    """
    return Prediction(*_whyslow.predict(bytes, rtt, settings))


def columns(table):
    """The columns of a table, in their order: name, Arrow type, unit ('' for none) and meaning of
    each.
    """
    return _whyslow.columns(table)


def _streamed(inputs, spooled, name, threads, path_rate, capture_point):
    _check(name)

    def begin(name):
        return _whyslow.StreamedTable(inputs, name, threads, path_rate, capture_point)

    return StreamedTable(begin, name, inputs, spooled)


def _check(name):
    if name not in TABLES:
        raise ValueError(f"there is no table {name!r}: {', '.join(TABLES)}")


def _read(inputs, threads, path_rate, progress):
    """Reads captures together."""
    try:
        return _whyslow.read(inputs, threads, path_rate, progress)
    except CaptureError as error:
        raise named(error, inputs) from None


def _transfer(source):
    if isinstance(source, Analysis):
        return source._native, ""
    if isinstance(source, tuple):
        analysis, which = source
        return analysis._native, str(which)
    path, which = os.fspath(source), ""
    if isinstance(path, str) and not os.path.exists(path) and "#" in path:
        path, which = path.rsplit("#", 1)
    return explain(path)._native, which
