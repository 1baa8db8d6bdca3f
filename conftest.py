"""For every run of pytest here, that of the notebooks, too: what this machine cannot run is skipped by name."""

import sys
from pathlib import Path

TESTS = Path(__file__).parent / "tests"
sys.path[:0] = [str(TESTS / "golden"), str(TESTS / "servers")]

pytest_plugins = ("kernels", "requirements")
