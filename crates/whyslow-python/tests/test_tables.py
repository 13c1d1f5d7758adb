"""Tables through the libraries that take them: each finds the rows and types that were given."""

import datetime
import os
import subprocess
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
import whyslow

NAMES = ["connections", "transfers", "findings", "files", "problems", "rounds"]
PROGRAM = Path(__file__).parents[3] / "target" / "debug" / "whyslow"
SAMPLES = [
    "loss-client",
    "slow-start-client",
    "new-connection-each-time-server",
    "shared-bottleneck-server",
]


@pytest.fixture(params=SAMPLES)
def found(request, sample):
    return whyslow.explain(sample(request.param))


@pytest.mark.parametrize("name", NAMES)
def test_pyarrow_polars_pandas_and_duckdb_find_the_same_rows(found, name):
    table = getattr(found, name)
    arrow = pyarrow.table(table)
    rows = arrow.to_pylist()
    assert arrow.num_rows == len(table) == len(list(table))
    assert polars.DataFrame(table).rows() == [tuple(row.values()) for row in rows]
    assert pandas.DataFrame.from_arrow(table).shape == (len(table), arrow.num_columns)
    assert duckdb.sql("select count(*) from arrow").fetchall() == [(len(table),)]
    assert duckdb.sql("from arrow").columns == arrow.column_names
    # A fresh stream each time.
    assert pyarrow.table(table).equals(arrow)


@pytest.mark.parametrize("name", whyslow.TABLES)
def test_parquet_of_the_program_is_read_by_duckdb_and_polars(sample, tmp_path, name):
    program = os.environ.get("WHYSLOW") or PROGRAM
    if not os.access(program, os.X_OK):
        pytest.skip(f"{program} is not built")
    captures = [sample(one) for one in SAMPLES]
    file = tmp_path / "table.parquet"
    subprocess.run([program, "export", *captures, "--of", name, "--parquet", file], check=True)
    rows = pyarrow.RecordBatchReader.from_stream(whyslow.table(captures, name)).read_all()
    assert rows.num_rows
    assert pyarrow.parquet.read_table(file).equals(rows)
    assert polars.read_parquet(file).equals(polars.from_arrow(rows))
    of_file = duckdb.sql(f"from '{file}'").to_arrow_table()
    assert of_file.equals(duckdb.sql("from rows").to_arrow_table())


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_has_version_units_and_portable_types(found, name):
    schema = pyarrow.schema(getattr(found, name))
    assert schema.metadata[b"whyslow.schema"] == b"whyslow-tables/1"
    assert schema.metadata[b"whyslow.table"] == name.encode()
    known = {
        pyarrow.int64(),
        pyarrow.float64(),
        pyarrow.string(),
        pyarrow.bool_(),
        pyarrow.list_(pyarrow.int64()),
        pyarrow.timestamp("us", "UTC"),
    }
    described = {column[0]: column for column in whyslow.columns(name)}
    assert list(described) == schema.names
    for field in schema:
        assert field.type in known, field
        assert field.metadata[b"description"].decode() == described[field.name][3]
        assert field.metadata.get(b"unit", b"").decode() == described[field.name][2]


def test_rows_are_the_objects_of_the_json(found):
    for row, transfer in zip(
        pyarrow.table(found.transfers).to_pylist(), found.transfers, strict=True
    ):
        assert row["bytes"] == transfer.bytes
        assert row["duration_s"] == transfer.duration_s
        assert row["cause"] == (transfer.findings[0].cause if transfer.findings else None)
        limits = {one.limit: one.seconds for one in transfer.limits}
        assert {name: row[f"limit_{name.replace('-', '_')}_s"] for name in limits} == limits
    for row, finding in zip(pyarrow.table(found.findings).to_pylist(), found.findings, strict=True):
        assert (row["cause"], row["cost_s"]) == (finding.cause, finding.cost_s)
        assert " " in row["summary"]
        frames = [frame for evidence in finding.evidence for frame in evidence.frames]
        assert row["frames"] == frames
    for row, problem in zip(pyarrow.table(found.problems).to_pylist(), found.problems, strict=True):
        assert (row["problem"], row["count"]) == (problem.slug, problem.count)
        assert " " in row["detail"]
    for row, connection in zip(
        pyarrow.table(found.connections).to_pylist(), found.connections, strict=True
    ):
        assert (row["connection"], row["state"], row["near"]) == (
            connection.id,
            connection.state,
            connection.near,
        )


def test_instants_are_there_twice(sample):
    found = whyslow.explain(sample("loss-client"))
    row = pyarrow.table(found.connections).to_pylist()[0]
    assert row["start"].tzinfo is not None
    epoch = datetime.datetime.fromtimestamp(0, datetime.UTC)
    assert (row["start"] - epoch) // datetime.timedelta(microseconds=1) == row["start_ns"] // 1000
    first = pyarrow.table(found.files).to_pylist()[0]
    assert row["start_ns"] == first["first_time_ns"] + round(row["start_s"] * 1e9)


def test_ids_stay_when_a_capture_is_read_again_and_with_others(sample):

    def ids(found):
        return {
            (row["uid"], row["community_id"])
            for row in pyarrow.table(found.connections).to_pylist()
        }

    alone = [ids(whyslow.explain(sample(name))) for name in ("loss-client", "slow-start-client")]
    together = ids(whyslow.explain([sample("loss-client"), sample("slow-start-client")]))
    assert alone[0] | alone[1] == together
    assert not ids(whyslow.explain(sample("loss-client"), capture_point="edge")) & together


def test_scan_gives_batches_of_many_files(sample, tmp_path):
    paths = [sample(name) for name in SAMPLES]
    batches = [pyarrow.record_batch(batch) for batch in whyslow.scan(paths)]
    together = pyarrow.Table.from_batches(batches)
    each = [pyarrow.table(whyslow.explain(path).transfers) for path in paths]
    assert together.equals(pyarrow.concat_tables(each))
    assert sum(map(len, whyslow.scan(paths, table="findings"))) == sum(
        len(whyslow.explain(path).findings) for path in paths
    )

    torn = tmp_path / "no-capture.pcap"
    torn.write_bytes(b"\x00" * 64)
    missing = tmp_path / "missing.pcap"
    errors = []
    left = list(whyslow.scan([torn, *paths, missing], errors=errors))
    assert sum(map(len, left)) == together.num_rows
    assert [type(error) for error in errors] == [whyslow.CaptureError, FileNotFoundError]
    with pytest.raises(whyslow.CaptureError):
        list(whyslow.scan([torn]))
    with pytest.raises(ValueError, match="no table"):
        list(whyslow.scan(paths, table="cookies"))


def test_a_table_without_rows_is_a_table(sample):
    found = whyslow.explain(sample("healthy-server"))
    assert len(found.findings) == 0
    assert pyarrow.table(found.findings).num_rows == 0
    assert polars.DataFrame(found.findings).columns == [
        column[0] for column in whyslow.columns("findings")
    ]
