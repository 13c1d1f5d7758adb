"""Spark, in local mode, reads what whyslow reads. Needs pyspark 4.1 and Java."""

import os
import shutil
import sys
from pathlib import Path

import pytest
import whyslow

pytest.importorskip("pyspark", minversion="4.1")
pyarrow = pytest.importorskip("pyarrow")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java is not installed", allow_module_level=True)

import pyspark_whyslow  # noqa: E402
from pyspark import cloudpickle  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402 only where it is there
from pyspark_whyslow._options import Options  # noqa: E402
from pyspark_whyslow._reader import Reader  # noqa: E402

SAMPLES = Path(__file__).parents[3] / "samples"


@pytest.fixture(scope="module")
def spark():
    """A session with two workers, to whose Python filters are handed over."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[2,2]")
        .appName("whyslow")
        .config("spark.ui.enabled", "false")
    )
    builder = builder.config("spark.sql.session.timeZone", "UTC").config(
        "spark.sql.shuffle.partitions", "4"
    )
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def captures(tmp_path):
    """Two capture points: samples that do not continue each other, and one that was rotated."""
    for name in ("slow-start-client", "receive-window-client", "tls-client"):
        shutil.copy(SAMPLES / f"{name}.pcap", tmp_path)
    whole = (SAMPLES / "loss-client.pcap").read_bytes()
    header, records = whole[:24], _records(whole)
    half = len(records) // 2
    (tmp_path / "rotated.pcap0").write_bytes(header + b"".join(records[:half]))
    (tmp_path / "rotated.pcap1").write_bytes(header + b"".join(records[half:]))
    return tmp_path


def _records(pcap):
    """The records of a little-endian pcap."""
    records, at = [], 24
    while at < len(pcap):
        end = at + 16 + int.from_bytes(pcap[at + 8 : at + 12], "little")
        records.append(pcap[at:end])
        at = end
    return records


def _load(spark, path, **options):
    return spark.read.format("whyslow").options(**options).load(str(path))


def _rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


@pytest.mark.parametrize("table", whyslow.TABLES)
def test_each_table_has_the_rows_that_whyslow_gives(spark, captures, table):
    points = [
        ["slow-start-client.pcap"],
        ["receive-window-client.pcap"],
        ["tls-client.pcap"],
        ["rotated.pcap0", "rotated.pcap1"],
    ]
    expected = []
    for point in points:
        found = whyslow.explain([str(captures / name) for name in point])
        rows = pyarrow.RecordBatchReader.from_stream(getattr(found, table)).read_all()
        for row in rows.to_pylist():
            row = {
                name: value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value
                for name, value in row.items()
            }
            expected.append(tuple(row.values()))
    read = _load(spark, captures, table=table)
    assert read.columns == [name for name, *_ in whyslow.columns(table)]
    assert _rows(read) == sorted(expected, key=repr)
    assert expected


def test_a_connection_that_crosses_files_is_one(spark, captures):
    read = _load(spark, captures / "rotated.pcap*", table="connections")
    alone = _load(spark, captures / "rotated.pcap*", table="connections", rotation="file")
    assert (read.count(), alone.count()) == (1, 2)
    named = _load(
        spark, captures / "rotated.pcap*", table="connections", rotation=r"(rotated)\.pcap\d"
    )
    assert named.collect() == read.collect()


@pytest.mark.parametrize("table", ["transfers", "findings", "packets"])
def test_a_task_for_each_file_gives_the_same(spark, captures, table):
    whole = _load(spark, captures, table=table)
    parts = pyspark_whyslow.stitched(spark, f"{captures}/*", table=table)
    assert parts.schema == whole.schema
    assert _rows(parts) == _rows(whole)
    assert whole.count()


@pytest.mark.parametrize("table", [table for table in whyslow.TABLES if table != "packets"])
def test_a_task_for_each_shard_gives_the_same(spark, captures, table):
    (captures / "torn.pcap").write_bytes(b"no capture at all")
    whole = _load(spark, captures, table=table)
    shards = pyspark_whyslow.stitched(spark, f"{captures}/*", table=table, shards="3")
    assert shards.schema == whole.schema
    assert _rows(shards) == _rows(whole)
    assert whole.count()


def test_packets_have_no_shards(spark, captures):
    with pytest.raises(ValueError, match="leave `shards` out"):
        pyspark_whyslow.stitched(spark, str(captures), table="packets", shards="2")
    with pytest.raises(ValueError, match="from 1 to 64"):
        pyspark_whyslow.stitched(spark, str(captures), shards="65")


def test_options_choose_rows(spark, captures):
    whole = _load(spark, captures).collect()
    cause = next(row.cause for row in whole if row.cause)
    assert {row.uid for row in _load(spark, captures, cause=cause).collect()} == {
        row.uid for row in whole if row.cause == cause
    }
    server = f"{whole[0].server_address}:{whole[0].server_port}"
    of_server = [
        row
        for row in whole
        if (row.server_address, row.server_port) == (whole[0].server_address, whole[0].server_port)
    ]
    assert _load(spark, captures, server=server).count() == len(of_server)
    starts = sorted(row.start for row in whole)
    assert starts[0] < starts[-1]
    since = starts[-1].isoformat()
    assert _load(spark, captures, since=since).count() == sum(
        row.start >= starts[-1] for row in whole
    )
    assert _load(spark, captures, until=since).count() == sum(
        row.start < starts[-1] for row in whole
    )
    uids = {row.uid for row in _load(spark, captures, table="connections", since=since).collect()}
    findings = _load(spark, captures, table="findings", since=since).collect()
    parts = pyspark_whyslow.stitched(spark, f"{captures}/*", table="findings", since=since)
    assert _rows(parts) == sorted((tuple(row) for row in findings), key=repr)
    assert {row.uid for row in findings if row.uid} <= uids


def test_filters_are_taken_from_spark_where_it_hands_them_over(spark, captures):
    whole = [row for row in _load(spark, captures).collect() if row.cause]
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        read = _load(spark, captures, push_filters="true").where(
            "cause is not null and bytes > 100000"
        )
        assert _rows(read) == sorted((tuple(row) for row in whole if row.bytes > 100_000), key=repr)
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_a_file_that_cannot_be_read_costs_itself_alone(spark, captures):
    rows = _load(spark, captures).count()
    (captures / "torn.pcap").write_bytes(b"no capture at all")
    assert _load(spark, captures).count() == rows
    by_file = pyspark_whyslow.stitched(spark, str(captures), table="problems")
    problems = _load(spark, captures, table="problems").where("problem = 'unread'").collect()
    assert by_file.where("problem = 'unread'").collect() == problems
    assert [Path(row.file).name for row in problems] == ["torn.pcap"]
    assert "torn.pcap" in problems[0].detail
    files = _load(spark, captures, table="files").collect()
    assert {Path(row.file).name for row in files} == {path.name for path in captures.iterdir()}


class FlakyReader(Reader):
    """Fails once for each capture point, behind its first batch."""

    def __init__(self, options, marks):
        super().__init__(options)
        self.marks = marks

    def read(self, partition):
        mark = Path(self.marks) / Path(partition.value[0]).name
        for batch in super().read(partition):
            yield batch
            if not mark.exists():
                mark.touch()
                raise RuntimeError("a task fails")


class FlakySource(pyspark_whyslow.DefaultSource):
    @classmethod
    def name(cls):
        return "flaky"

    def reader(self, schema):
        options = dict(self.options)
        marks = options.pop("marks")
        return FlakyReader(Options.parse(options), marks)

    def schema(self):
        return Options.parse({"path": "x"}).schema()


def test_a_task_that_failed_is_run_again_and_gives_the_same(spark, captures, tmp_path_factory):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    marks = tmp_path_factory.mktemp("marks")
    spark.dataSource.register(FlakySource)
    again = spark.read.format("flaky").option("marks", str(marks)).load(str(captures))
    assert _rows(again) == _rows(_load(spark, captures))
    assert len(list(marks.iterdir())) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"table": "cookies"}, "connections, transfers"),
        ({"colour": "red"}, "there is no option 'colour'"),
        ({"since": "yesterday"}, "2026-11-23T14:00:00Z"),
        ({"rotation": "x"}, "one group"),
        ({"table": "files", "cause": "loss"}, "no causes"),
        ({"threads": "none"}, "a number from 1"),
    ],
)
def test_what_makes_no_sense_is_refused_before_it_starts(spark, captures, options, words):
    with pytest.raises(Exception, match=words):
        _load(spark, captures, **options).schema  # noqa: B018 it is asked for


def test_a_missing_file_is_named(spark, tmp_path):
    with pytest.raises(Exception, match="there is no such file"):
        _load(spark, tmp_path / "none.pcap").count()
