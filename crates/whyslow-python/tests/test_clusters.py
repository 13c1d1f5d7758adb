"""The programs in `examples/` that read captures by many processes. Need dask and ray."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import whyslow
from test_example import rotate

# Nobody is asked who they are, and nothing is told to anybody.
RAY = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
# Ray gives its node 30 s, and lets nobody give it more: on a machine that does other things as
# well the next try finds its programs in memory.
RAY_TRIES = 5
RAY_IS_LATE = "timed out during startup"
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def rotated(sample, tmp_path):
    rotate(sample("loss-client"), tmp_path, "loss", 3)
    return sorted(map(str, tmp_path.glob("*.pcap*")))


def _printed(example, paths):
    for _ in range(RAY_TRIES):
        run = subprocess.run(
            [sys.executable, EXAMPLES / example, *paths],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **RAY, "COLUMNS": "100"},
        )
        if RAY_IS_LATE not in run.stderr:
            break
    assert run.returncode == 0, run.stderr
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
            costs[top.cause] = costs.get(top.cause, 0) + top.cost_s
    assert {line[0]: float(line[1]) for line in lines[1:]} == pytest.approx(costs)
    assert costs
