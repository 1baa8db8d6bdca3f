"""Tables against a plain dict: whatever is done in whatever order, every snapshot, tag and branch holds the model's rows."""

from __future__ import annotations

import pytest
from machine import Machine
from sampling import sampled
from scene import KINDS

pytestmark = pytest.mark.slow

STEPS = 30
IDS = ["-".join(kind) for kind in KINDS]


def history(engine: str, bucket: str, seed: int, steps: int = 50) -> None:
    machine = Machine(engine, bucket, seed)
    try:
        machine.run(steps)
    except BaseException:
        print("\n".join(machine.log))
        raise


@pytest.mark.parametrize(("engine", "bucket"), sampled(KINDS, 2), ids=IDS)
def test_table_against_a_dict(engine, bucket):
    history(engine, bucket, 0, STEPS)


@pytest.mark.nightly
@pytest.mark.parametrize(("engine", "bucket"), KINDS, ids=IDS)
def test_table_against_a_dict_500_times(engine, bucket):
    for seed in range(1, 501):
        history(engine, bucket, seed)
