"""Captures that are read one by one, and explained together."""

import multiprocessing

import pytest
import whyslow


def _parts(capture, folder):
    """The capture in two files, cut between two packets."""
    whole = capture.read_bytes()
    records, at = [], 24
    while at < len(whole):
        end = at + 16 + int.from_bytes(whole[at + 8 : at + 12], "little")
        records.append(whole[at:end])
        at = end
    half = len(records) // 2
    paths = [folder / "part.pcap0", folder / "part.pcap1"]
    for path, some in zip(paths, (records[:half], records[half:]), strict=True):
        path.write_bytes(whole[:24] + b"".join(some))
    return paths


def test_stitched_results_equal_the_files_together(sample, tmp_path):
    parts = _parts(sample("loss-client"), tmp_path)
    rows = [(path.name, row) for path in reversed(parts) for row in whyslow.condense(path)]
    assert all(isinstance(row, bytes) and len(row) <= 1 << 20 for _, row in rows)
    assert sum(len(row) for _, row in rows) * 4 < sum(path.stat().st_size for path in parts)
    found, whole = whyslow.stitch(rows), whyslow.explain(parts)
    assert found.to_dict() == whole.to_dict()
    assert len(found.connections) == 1
    assert found.plot().startswith("<svg")


def test_missing_rows_are_reported(sample):
    rows = list(whyslow.condense(sample("loss-client")))
    found = whyslow.stitch(("one", row) for row in rows[:-1])
    assert "torn-record" in [problem.slug for problem in found.problems]


def test_reading_may_end_early(sample):
    rows = whyslow.condense(sample("loss-client"))
    assert next(rows)
    del rows


def test_what_cannot_be_condensed_or_stitched(tmp_path):
    (tmp_path / "none.pcap").write_bytes(b"no capture at all")
    with pytest.raises(whyslow.CaptureError, match="none.pcap"):
        list(whyslow.condense(tmp_path / "none.pcap"))
    with pytest.raises(FileNotFoundError):
        list(whyslow.condense(tmp_path / "missing.pcap"))
    with pytest.raises(ValueError, match="nothing to stitch"):
        whyslow.stitch([])


def rows_of(path):
    """What a task gives of a file."""
    return [(str(path), row) for row in whyslow.condense(path)]


def test_a_pool_of_processes_reads_the_files(sample, tmp_path):
    parts = _parts(sample("loss-client"), tmp_path)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = whyslow.stitch(
            pair for rows in pool.imap_unordered(rows_of, parts) for pair in rows
        )
    assert found.to_dict() == whyslow.explain(parts).to_dict()


def _shards(paths, of, every=False):
    """What the shards of a capture point give, the last shard first."""
    rows = {shard: [] for shard in reversed(range(of))}
    for path in reversed(paths):
        for shard, row in whyslow.condense(path, shards=of):
            rows[shard].append((path.name, row))
    return [
        (shard, row)
        for shard, of_shard in rows.items()
        for row in whyslow.stitch_shard(of_shard, every=every, threads=1)
    ]


@pytest.mark.parametrize("of", [1, 2, 7])
def test_shards_that_are_merged_are_the_whole(sample, tmp_path, of):
    parts = _parts(sample("loss-client"), tmp_path)
    rows = _shards(parts, of)
    assert all(isinstance(row, bytes) and len(row) <= 1 << 20 for _, row in rows)
    assert whyslow.merge(rows).to_dict() == whyslow.explain(parts).to_dict()


def test_both_ends_are_compared_from_shards(sample):
    ends = [sample("loss-client"), sample("loss-server")]
    merged = whyslow.merge(_shards(ends, 3))
    assert merged.to_dict() == whyslow.explain(ends).to_dict()
    assert merged.pairs


def test_a_table_of_shards_is_that_of_the_whole(sample, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parts = _parts(sample("loss-client"), tmp_path)

    def read(table):
        return pyarrow.RecordBatchReader.from_stream(table).read_all()

    merged = whyslow.merge(_shards(parts, 3, every=True), table="transfers")
    for name in ("transfers", "connections", "findings", "files", "problems", "rounds"):
        assert read(merged.table(name)) == read(whyslow.table(parts, name)), name
    with pytest.raises(ValueError, match="in one piece"):
        merged.table("packets")
    listed = whyslow.merge(_shards(parts, 3), table="transfers")
    with pytest.raises(whyslow.CaptureError, match="every connection"):
        list(listed.batches())


def test_missing_or_mixed_shards_are_reported(sample):
    path = sample("loss-client")
    rows = _shards([path], 3)
    with pytest.raises(whyslow.CaptureError, match="shard 0 of 3 is missing"):
        whyslow.merge(row for row in rows if row[0] != 0)
    with pytest.raises(whyslow.CaptureError, match="holds shard 0 of 2 alone"):
        rows = whyslow.condense(path, shards=2)
        whyslow.stitch((path.name, row) for shard, row in rows if shard == 0)
    with pytest.raises(ValueError, match="1 to 64"):
        whyslow.condense(path, shards=65)
