"""The types that editors show for what an analysis returns."""

import subprocess
import sys
from pathlib import Path

import whyslow

GOOD = """
import whyslow
from whyslow.types import Connection, Finding

a = whyslow.explain("slow.pcap")
first: Connection = a.connections[0]
cost: float = first.transfers[0].findings[0].cost_s
names: list[str] = [finding.cause for finding in a.findings]
top: Finding = first.findings[0]
seconds: float | None = top.remedies[0].predicted_s
took: float = whyslow.predict(100, 0.1).total_s
difference: float = whyslow.compare("a", "b").phases[0].difference_s
"""
BAD = """
import whyslow

a = whyslow.explain("slow.pcap")
a.connections[0].transfer
a.connections[0].transfers[0].findings[0].costs
a.connection
"""


def check(folder: Path, text: str) -> list[str]:
    """Errors of the type checker, each with its line."""
    file = folder / "use.py"
    file.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder), "--no-error-summary", str(file)]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert printed.returncode in (0, 1), printed.stdout + printed.stderr
    return printed.stdout.splitlines()


def test_members_of_the_json_have_types(tmp_path):
    assert check(tmp_path, GOOD) == []


def test_unknown_members_are_errors(tmp_path):
    found = [line.split(":")[1] for line in check(tmp_path, BAD)]
    assert found == ["5", "6", "7"]


def test_objects_have_the_members_of_their_types(sample):
    connection = whyslow.explain(sample("loss-server")).connections[0]
    for one, kind in [
        (connection, whyslow.types.Connection),
        (connection.transfers[0], whyslow.types.Transfer),
        (connection.transfers[-1].findings[0], whyslow.types.Finding),
    ]:
        assert set(vars(one)) <= set(kind.__annotations__) | {"from"}, kind.__name__
