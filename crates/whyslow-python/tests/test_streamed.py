"""Tables of every connection, as they are read; and captures that URLs name."""

import functools
import http.server
import os
import struct
import threading

import duckdb
import polars
import pyarrow
import pytest
import whyslow

LISTED = 10_000


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A capture of more connections than an analysis lists: a SYN each."""
    count = LISTED + 250
    file = bytearray(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 101))
    for place in range(count):
        seconds, micros = divmod(place * 1000, 1_000_000)
        file += struct.pack("<IIII", 1_600_000_000 + seconds, micros, 40, 40)
        file += bytes([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0])
        file += bytes([10, 0, place >> 8, place & 255, 10, 9, 9, 9])
        file += struct.pack(">HHIIBBHHH", 40_000, 443, 1, 0, 0x50, 2, 0xFFFF, 0, 0)
    path = tmp_path_factory.mktemp("many") / "many.pcap"
    path.write_bytes(file)
    return path, count


def _table(stream):
    return pyarrow.RecordBatchReader.from_stream(stream).read_all()


def test_every_connection_has_a_row(many):
    path, count = many
    found = whyslow.explain(path)
    assert len(found.connections) == LISTED
    streamed = whyslow.table(path, "connections")
    rows = _table(streamed)
    assert rows["connection"].to_pylist() == list(range(1, count + 1))
    # It is read anew by whoever asks.
    assert polars.DataFrame(streamed).shape == rows.shape
    assert duckdb.sql("select count(*) from streamed").fetchall() == [(count,)]
    batches = [pyarrow.record_batch(batch) for batch in streamed.batches()]
    assert len(batches) > 1
    assert pyarrow.Table.from_batches(batches).equals(rows)
    assert sum(map(len, whyslow.scan([path, path], table="connections"))) == 2 * count
    listed = rows.filter(
        pyarrow.compute.is_in(
            rows["connection"], pyarrow.array([one.id for one in found.connections])
        )
    )
    assert listed.equals(pyarrow.table(found.connections).combine_chunks())


def test_what_is_listed_is_what_an_analysis_has(sample):
    paths = [sample("loss-client"), sample("shared-bottleneck-server")]
    found = whyslow.explain(paths)
    table = whyslow.table(paths)
    for name in whyslow.TABLES:
        assert _table(table.table(name)).equals(_table(getattr(found, name))), name
    rows = [(str(path), row) for path in paths for row in whyslow.condense(path)]
    stitched = whyslow.stitch(rows, table="findings")
    assert _table(stitched).equals(_table(found.findings))


@pytest.mark.parametrize("name", ["loss-client", "timeout-server", "receive-window-client"])
def test_packets_have_the_verdicts_that_are_counted(sample, name):
    found = whyslow.explain(sample(name))
    rows = _table(found.packets).to_pylist()
    for connection in found.connections:
        own = [row for row in rows if row["connection"] == connection.id]
        assert own[0]["frame"] == connection.first_frame
        assert [row["frame"] for row in own] == sorted(row["frame"] for row in own)
        assert all(row["packet_file"] == str(sample(name)) for row in own)
        assert own[0]["time_s"] == connection.start_s
        assert own[-1]["time_s"] == pytest.approx(connection.start_s + connection.duration_s)
        for half in connection.directions:
            sent = [row for row in own if row["from"] == half.__dict__["from"]]
            assert len(sent) == half.packets
            kinds = [row["kind"] for row in sent]
            assert kinds.count("fast-retransmission") == half.retransmitted.fast
            assert kinds.count("timeout-retransmission") == half.retransmitted.timeout
            assert kinds.count("spurious-retransmission") == half.retransmitted.spurious
    assert any(row["kind"] == "new" for row in rows)


def test_rows_that_nobody_takes_end_the_reading(many):
    batches = whyslow.table(many[0], "connections").batches()
    assert len(next(batches))
    del batches
    stream = pyarrow.RecordBatchReader.from_stream(whyslow.table(many[0], "connections"))
    assert stream.read_next_batch().num_rows
    stream.close()


def test_errors_are_those_of_explain(tmp_path):
    with pytest.raises(FileNotFoundError):
        next(whyslow.table(tmp_path / "missing.pcap").batches())
    with pytest.raises(whyslow.CaptureError) as raised:
        next(whyslow.table(b"no capture at all").batches())
    assert raised.value.file == "<bytes 1>"
    with pytest.raises(Exception, match="missing.pcap"):
        _table(whyslow.table(tmp_path / "missing.pcap"))
    with pytest.raises(ValueError, match="no table"):
        whyslow.table(b"", "cookies")


@pytest.fixture
def served(sample):
    """The URL of the folder of samples."""
    folder = str(sample("loss-client").parent)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_urls_are_read_as_files_are(served, sample):
    found = whyslow.explain(f"{served}/loss-client.pcap")
    here = whyslow.explain(sample("loss-client"))
    assert found.verdict == here.verdict
    there = found.to_dict()
    there["captures"][0]["path"] = str(sample("loss-client"))
    assert there == here.to_dict()
    assert found.plot() == here.plot()
    transfers = _table(whyslow.table(f"{served}/loss-client.pcap"))
    assert transfers.num_rows == len(here.transfers)
    assert transfers["file"][0].as_py() == f"{served}/loss-client.pcap"
    assert list(whyslow.condense(f"{served}/loss-client.pcap"))
    with pytest.raises(FileNotFoundError, match="none.pcap"):
        whyslow.explain(f"{served}/none.pcap")
    with pytest.raises(OSError, match="unknown scheme"):
        whyslow.explain("gopher://127.0.0.1/a.pcap")


def test_a_process_that_was_forked_off_opens_urls_of_its_own(served):
    url = f"{served}/loss-client.pcap"
    found = whyslow.explain(url)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            found.plot()
        except OSError as error:
            code = 0 if "forked" in str(error) else 2
        if whyslow.explain(url).verdict != found.verdict:
            code = 3
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert found.plot()
