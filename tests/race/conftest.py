import sys
from pathlib import Path

TABLE = Path(__file__).parents[1] / "table"
sys.path[:0] = [
    str(Path(__file__).parent),
    *(str(TABLE / room) for room in ("write", "write/maintenance", "write/commit")),
]
