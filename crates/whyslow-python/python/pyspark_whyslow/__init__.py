"""Spark reads captures: `spark.read.format("whyslow").load("captures/*.pcap.zst")`.

Spark (4.1 or later) finds this package by its name where whyslow is installed. Each task explains
the files of one capture point, so that a connection which crosses from one file to the next is
whole. Options, as strings:

table       connections, transfers (the default), findings, files, problems, rounds
            or packets
rotation    which files are of one capture point: `name` (the default: those whose names differ
            only in digits), `file` (each by itself), or a regular expression with one group that
            finds the capture point in the path
since       rows that began then or later, and
until       before: ISO 8601, UTC unless it says otherwise; in a table without `start`, those of
            the row's connection
server      name, address, or either with `:port`
cause       the costliest one of a connection or transfer; that of a finding
threads     for each task; 1 by default
capture_point   your name for where the captures were taken: part of `uid`
push_filters    `true` where spark.sql.python.filterPushdown.enabled is on: filters are applied
            before rows reach Spark

`stitched(spark, "captures/*.pcap.zst")` gives the same rows where a capture point has many files:
each is read by a task of its own.
"""

from pyspark.sql.datasource import DataSource

__all__ = ["DefaultSource", "stitched"]


class DefaultSource(DataSource):
    """The format `whyslow`."""

    @classmethod
    def name(cls):
        return "whyslow"

    # Spark imports each package of this kind to look for formats: the rest waits until it is used.

    def schema(self):
        from ._options import Options

        return Options.parse(self.options).schema()

    def reader(self, schema):
        from ._options import Options
        from ._reader import PushingReader, Reader

        options = Options.parse(self.options)
        return PushingReader(options) if options.push_filters else Reader(options)


def stitched(spark, paths, **options):
    """A table of captures of which each file is read by a task of its own, as a DataFrame.

    `paths` is a path or pattern or a list of these. Options are those of the format, as strings. A
    task condenses a file to what is needed of its packets, Spark brings what belongs to one capture
    point together, and a task explains it: connections which cross files are whole. With `shards`
    (`"2"` to `"64"`) as many tasks explain a capture point, each the connections of a shard, and a
    small one merges what they give.
    """
    from ._stitched import stitched

    return stitched(spark, [paths] if isinstance(paths, str) else list(paths), options)
