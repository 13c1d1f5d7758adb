"""Tables of every connection, as they are read; and captures that URLs name."""

import contextlib
import functools
import http.server
import os
import shutil
import signal
import ssl
import struct
import subprocess
import sys
import threading

import duckdb
import polars
import pyarrow
import pyarrow.compute
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


def test_untaken_rows_end_the_reading(many):
    batches = whyslow.table(many[0], "connections").batches()
    assert len(next(batches))
    del batches
    stream = pyarrow.RecordBatchReader.from_stream(whyslow.table(many[0], "connections"))
    assert stream.read_next_batch().num_rows
    stream.close()


@pytest.mark.parametrize("read", ["table", "condense"])
def test_a_signal_ends_what_waits_for_a_pipe(tmp_path, read):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    rows = whyslow.table(pipe).batches() if read == "table" else whyslow.condense(pipe)
    try:
        with pytest.raises(KeyboardInterrupt):
            next(rows)
    finally:
        os.close(writer)


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


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def _serving(folder, tls=None):
    """The address of a server that has the files of a folder."""
    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def served(sample):
    """The URL of the folder of samples."""
    with _serving(sample("loss-client").parent) as address:
        yield f"http://{address}"


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


@pytest.fixture
def certified(tmp_path):
    """The certificate of an authority of our own, and TLS with one that it has signed."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificates, is missing")

    def certificate(name, *more):
        begin = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        files = ["-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}"]
        subprocess.run([*begin, *files, *more], cwd=tmp_path, check=True, capture_output=True)

    certificate("authority")
    own = "basicConstraints=critical,CA:FALSE", "subjectAltName=IP:127.0.0.1"
    signed = "-CA", "authority.pem", "-CAkey", "authority.key"
    certificate("server", *signed, "-addext", own[0], "-addext", own[1])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    return tmp_path / "authority.pem", tls


def test_https_is_read_where_the_authority_is_trusted(certified, sample):
    authority, tls = certified
    program = "import sys, whyslow; print(whyslow.explain(sys.argv[1]).verdict)"

    def explained(url, **trusted):
        # The authorities are read once in a process.
        command = [sys.executable, "-c", program, url]
        env = {**os.environ, **trusted}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    with _serving(sample("loss-client").parent, tls) as address:
        url = f"https://{address}/loss-client.pcap"
        read = explained(url, SSL_CERT_FILE=str(authority))
        assert read.stdout.strip() == whyslow.explain(sample("loss-client")).verdict, read.stderr
        refused = explained(url)
        assert refused.returncode != 0
        assert "SSL_CERT_FILE" in refused.stderr


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
