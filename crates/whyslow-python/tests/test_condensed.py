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


def test_what_is_stitched_is_what_the_files_say_together(sample, tmp_path):
    parts = _parts(sample("loss-client"), tmp_path)
    rows = [(path.name, row) for path in reversed(parts) for row in whyslow.condense(path)]
    assert all(isinstance(row, bytes) and len(row) <= 1 << 20 for _, row in rows)
    assert sum(len(row) for _, row in rows) * 4 < sum(path.stat().st_size for path in parts)
    found, whole = whyslow.stitch(rows), whyslow.explain(parts)
    assert found.to_dict() == whole.to_dict()
    assert len(found.connections) == 1
    assert found.plot().startswith("<svg")


def test_rows_that_are_missing_are_told(sample):
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
