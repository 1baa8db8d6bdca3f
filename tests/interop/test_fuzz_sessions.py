"""Random sessions of Flink SQL: real Flink with Paimon and we take the same statements and answer the same rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from fuzz_compare import DELIBERATE, Pair
from fuzz_run import run_seeds
from fuzz_sessions import Session

if TYPE_CHECKING:
    from flink_session import FlinkSession

NIGHTLY = 500


@pytest.fixture(scope="module")
def pair(flink_process: FlinkSession, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(flink_process, tmp_path_factory.mktemp("fuzz"))


@pytest.mark.nightly
@pytest.mark.java
@pytest.mark.spark
@pytest.mark.parametrize("seed", [28])
def test_a_short_session_is_the_same_in_flink(pair: Pair, seed: int) -> None:
    assert run_seeds(pair, range(seed, seed + 1), None) == []


@pytest.mark.nightly
@pytest.mark.java
@pytest.mark.spark
@pytest.mark.parametrize("first", range(0, NIGHTLY, 10))
def test_random_sessions_are_the_same_in_flink(pair: Pair, first: int) -> None:
    """Resume with `-k 'random and 240'`, or `fuzz_run.py --first 240 --record FILE`."""
    assert run_seeds(pair, range(first, first + 10), None) == []


def test_a_seed_makes_the_same_session_again() -> None:
    assert [Session(seed).statements for seed in range(20)] == [Session(seed).statements for seed in range(20)]
    assert len({Session(seed).statements[0] for seed in range(20)}) == 20


def test_a_tenth_of_the_sessions_streams() -> None:
    streaming = [
        seed for seed in range(100) if "SET 'execution.runtime-mode' = 'streaming'" in Session(seed).statements
    ]
    assert streaming == list(range(9, 100, 10))


@pytest.mark.nightly
def test_the_sessions_have_every_kind_of_statement() -> None:
    text = "\n".join(s for seed in range(NIGHTLY) for s in Session(seed).statements)
    for kind in (
        r"INSERT INTO \w+ VALUES", r"INSERT INTO \w+ SELECT", r"INSERT OVERWRITE \w+ PARTITION", "UPDATE", "DELETE FROM", "OPTIONS", "ALTER TABLE",
        "CALL sys.compact", "create_tag", "create_branch", "fast_forward", "rollback_to", "expire_snapshots", r"\$audit_log", r"\$files", r"\$schemas",
        "incremental-between", "FOR SYSTEM_TIME AS OF", "TRY_CAST", "'merge-engine' = 'aggregation'", "sequence-group", "TRUNCATE TABLE",
    ):  # fmt: skip
        assert re.search(kind, text), kind


def test_a_deliberate_difference_has_a_reason() -> None:
    assert all(len(d["reason"]) > 20 and all(c["statement"] for c in d.get("case", [d])) for d in DELIBERATE)
    assert len({d["name"] for d in DELIBERATE}) == len(DELIBERATE) <= 40
