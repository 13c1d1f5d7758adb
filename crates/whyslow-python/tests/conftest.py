"""Captures for the tests: the project's own samples."""

from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[3] / "samples"


@pytest.fixture
def sample():
    """The path of a sample, by its name."""
    return lambda name: SAMPLES / f"{name}.pcap"
