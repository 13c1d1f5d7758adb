"""The program in `examples/`, on rotated captures."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest
import whyslow

EXAMPLE = Path(__file__).parents[3] / "examples" / "which-servers-cost-most.py"


def rotate(capture, folder, name, parts):
    """Cuts a pcap (little-endian) into files of as many packets each, as `tcpdump -C` does."""
    data = capture.read_bytes()
    assert data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")
    packets, at = [], 24
    while at < len(data):
        length = 16 + struct.unpack_from("<I", data, at + 8)[0]
        packets.append(data[at : at + length])
        at += length
    each = -(-len(packets) // parts)
    for part in range(parts):
        (folder / f"{name}.pcap{part}").write_bytes(
            data[:24] + b"".join(packets[part * each : (part + 1) * each])
        )


def test_servers_are_ranked_over_rotated_captures(sample, tmp_path):
    names = ["loss-client", "slow-start-client", "receive-window-client"]
    for name in names:
        rotate(sample(name), tmp_path, name, 3)
    (tmp_path / "torn.pcap0").write_bytes(b"\x00" * 64)
    picture = tmp_path / "worst.svg"
    run = subprocess.run(
        [
            sys.executable,
            EXAMPLE,
            *sorted(tmp_path.glob("*.pcap*")),
            "--picture",
            picture,
            "--tables",
            tmp_path / "tables",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [
        line.split()
        for line in run.stdout.splitlines()[1:]
        if line and not line.startswith(str(picture))
    ]
    seconds = [float(row[0]) for row in rows]
    assert seconds == sorted(seconds, reverse=True)
    # A connection that was cut in three is whole, and costs what it costs in one file.
    whole = {}
    for name in names:
        for transfer in whyslow.explain(sample(name)).transfers:
            if transfer.findings:
                top = transfer.findings[0]
                whole[top.cause] = whole.get(top.cause, 0) + top.cost_s
    assert {row[2]: float(row[0]) for row in rows} == pytest.approx(whole, abs=1e-3)
    assert picture.read_text().startswith("<svg")
    assert "torn" in run.stderr
    # One for each capture point that could be read.
    assert len(list((tmp_path / "tables").glob("*.parquet"))) == len(names)
