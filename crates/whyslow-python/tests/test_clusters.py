"""The programs in `examples/` that read captures by many processes. Need dask and ray."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import whyslow
from test_example import rotate

# Nobody else is let in, nothing is told to anybody, and a busy machine may take its time.
RAY = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "600",
}
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def rotated(sample, tmp_path):
    rotate(sample("loss-client"), tmp_path, "loss", 3)
    return sorted(map(str, tmp_path.glob("*.pcap*")))


def _printed(example, paths):
    run = subprocess.run(
        [sys.executable, EXAMPLES / example, *paths],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **RAY, "COLUMNS": "100"},
    )
    return run.stdout


def test_a_pool_of_processes(rotated):
    page = str(whyslow.explain(rotated))
    assert _printed("on-processes.py", rotated).rstrip() == page.rstrip()


def test_ray(rotated):
    pytest.importorskip("ray.data")
    page = str(whyslow.explain(rotated))
    assert _printed("on-ray.py", rotated).rstrip() == page.rstrip()


def test_dask(rotated):
    pytest.importorskip("dask")
    lines = [line.split("\t") for line in _printed("on-dask.py", rotated).splitlines()]
    assert lines[0] == ["cause", "sum", "count"]
    costs = {}
    for transfer in whyslow.explain(rotated).transfers:
        if transfer.findings:
            top = transfer.findings[0]
            costs[top.cause] = costs.get(top.cause, 0) + top.seconds
    assert {line[0]: float(line[1]) for line in lines[1:]} == pytest.approx(costs)
    assert costs
