"""`explain`, `scan`, `compare`, `predict`: what they give, and what they raise."""

import contextlib
import json
import multiprocessing
import os
import signal
import threading
import time

import pytest
import whyslow


def test_what_was_found_is_what_the_json_has(sample):
    found = whyslow.explain(sample("loss-client"))
    document = found.to_dict()
    assert document["schema"] == found.schema == "whyslow/2"
    assert found.captures[0].path == str(sample("loss-client"))
    transfer = found.connections[0].transfers[1]
    assert transfer.findings[0].cause == "loss"
    assert transfer.verdict == document["connections"][0]["transfers"][1]["verdict"]
    assert found.verdict.startswith("The download was slow")
    assert found.verdict in str(found)
    assert found.verdict in repr(found)
    with pytest.raises(AttributeError, match="no_such"):
        _ = found.no_such


@pytest.mark.parametrize(
    "name", ["loss-client", "slow-start-client", "new-connection-each-time-server"]
)
def test_a_path_bytes_and_a_file_give_the_same(sample, name):
    path = sample(name)
    from_path = whyslow.explain(path).to_dict()
    with path.open("rb") as file:
        from_file = whyslow.explain(file).to_dict()
    from_bytes = whyslow.explain(path.read_bytes()).to_dict()
    assert from_bytes["captures"][0]["path"] == "<bytes 1>"
    from_bytes["captures"][0]["path"] = str(path)
    assert from_path == from_file == from_bytes
    assert whyslow.explain(path, threads=1).to_dict() == whyslow.explain(path, threads=3).to_dict()


def test_both_ends_are_compared(sample):
    found = whyslow.explain([sample("loss-client"), sample("loss-server")])
    assert len(found.files) == 2
    assert found.pairs_total == 1
    assert found.pairs[0].directions[1].lost > 0


def test_errors_name_the_file_and_the_place(sample, tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        whyslow.explain(tmp_path / "no-such.pcap")
    assert missing.value.filename == str(tmp_path / "no-such.pcap")
    with pytest.raises(IsADirectoryError):
        whyslow.explain(tmp_path)
    with pytest.raises(whyslow.CaptureError, match="empty"):
        whyslow.explain(b"")
    with pytest.raises(whyslow.CaptureError) as odd:
        whyslow.explain([sample("loss-client"), b"\x00" * 100])
    assert odd.value.file == "<bytes 2>"
    assert odd.value.offset == 0
    assert "<bytes 2>" in str(odd.value)
    with pytest.raises(TypeError, match="int"):
        whyslow.explain(3)
    with pytest.raises(ValueError, match="nothing to explain"):
        whyslow.explain([])
    torn = sample("loss-client").read_bytes()[:-7]
    assert "torn-record" in {problem.slug for problem in whyslow.explain(torn).problems}


def test_progress_is_reported_and_can_end_the_reading(sample, tmp_path):
    progress = []
    # A pipe that somebody holds open: there is time to tell.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    capture = sample("loss-client").read_bytes()

    def write():
        # Who has enough closes the pipe.
        with contextlib.suppress(BrokenPipeError), pipe.open("wb") as out:
            for start in range(0, len(capture), 200_000):
                out.write(capture[start : start + 200_000])
                out.flush()
                time.sleep(0.1)

    writer = threading.Thread(target=write)
    writer.start()
    found = whyslow.explain(pipe, progress=lambda *bytes: progress.append(bytes))
    writer.join()
    assert found.connections[0].transfers[1].findings[0].cause == "loss"
    assert progress == sorted(progress)
    assert all(0 < read <= len(capture) and total is None for read, total in progress)

    class Enough(Exception):
        pass

    def stop(read, total):
        raise Enough

    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(Enough):
        whyslow.explain(pipe, progress=stop)
    writer.join()


def test_a_signal_ends_the_reading_of_a_silent_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            whyslow.explain(pipe)
    finally:
        os.close(writer)


def test_other_threads_run_while_a_capture_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    ran = threading.Event()

    def stop(signal_number, frame):
        assert ran.wait(10)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)

    def run():
        ran.set()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.2, run).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            whyslow.explain(pipe)
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(writer)


def _causes(path):
    return [finding.cause for finding in whyslow.explain(path).findings]


def test_a_fork_after_use_explains_as_well(sample):
    path = str(sample("slow-start-client"))
    here = _causes(path)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(_causes, [path] * 4).get(timeout=120) == [here] * 4


def test_compare(sample):
    found = whyslow.compare(sample("loss-client"), sample("slow-start-client"))
    assert found.to_dict()["schema"] == "whyslow-compare/2"
    assert "loss" in str(found)
    one = whyslow.explain(sample("loss-client"))
    again = whyslow.compare((one, "1.1"), f"{sample('loss-client')}#1.2")
    assert [one.transfer for one in again.transfers] == [1, 2]
    with pytest.raises(KeyError, match="9"):
        whyslow.compare((one, 9), one)
    with pytest.raises(ValueError, match="one transfer"):
        whyslow.compare(one, one)


def test_predict():
    slow = whyslow.predict(1_000_000, 0.1)
    assert slow.schema == "whyslow-predict/1"
    fast = whyslow.predict(1_000_000, 0.1, initcwnd=100, tls="1.3", rate=1e9)
    assert json.dumps(fast.to_dict())
    assert "round trip" in str(slow).lower() or "rtt" in str(slow).lower()
    with pytest.raises(TypeError, match="initcwn"):
        whyslow.predict(1, 0.1, initcwn=3)
    with pytest.raises(ValueError, match="loss=2"):
        whyslow.predict(1, 0.1, loss=2.0)


def test_a_picture_and_html_for_notebooks(sample):
    found = whyslow.explain(sample("loss-client"))
    assert found.plot().startswith("<svg")
    assert found.plot(1, "in-flight", (640, 480)) != found.plot()
    page = found._repr_html_()
    assert page.index(found.verdict) < page.index("<svg") < page.index("<table>")
    # What is in memory has a picture too, and what cannot be read again none.
    assert whyslow.explain(sample("loss-client").read_bytes()).plot().startswith("<svg")
    with pytest.raises(ValueError, match="no track"):
        found.plot(track="colours")
    with pytest.raises(KeyError):
        found.plot(connection=9)


def test_a_hostile_name_stays_text_in_html(sample):
    capture = sample("slow-start-client").read_bytes()
    found = whyslow.explain(capture)
    found.connections[0].server.name = "<script>alert(1)</script>"
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()
