"""Whatever is done in whatever order: every snapshot, tag and branch that is left has all its files."""

import random

import pytest
from commit_kit import make_table
from history_kit import append, missing, squash
from sampling import sampled

from paimon_nb.base import clock
from paimon_nb.base.errors import PaimonError
from paimon_nb.table.write.maintenance import (
    ExpireLimits,
    create_branch,
    create_tag,
    delete_branch,
    delete_tag,
    expire_snapshots,
    fast_forward,
    find_orphans,
    remove_orphans,
    rollback_to_snapshot,
    rollback_to_tag,
)


def one_step(store, dice: random.Random, step: int) -> None:
    branches, tags = ["main", *store.branches.names()], store.tags.names()
    one = store if (name := dice.choice(branches)) == "main" else store.on_branch(name)
    match dice.choice(
        [
            "append",
            "append",
            "append",
            "squash",
            "tag",
            "untag",
            "branch",
            "unbranch",
            "expire",
            "expire",
            "back",
            "tagback",
            "forward",
            "orphans",
        ]
    ):
        case "append":
            append(one, f"f{step}", step, step)
        case "squash":
            if one.latest():
                squash(one, f"s{step}")
        case "tag":
            create_tag(one, f"t{step}", dice.choice(one.snapshots.ids() or [0]))
        case "untag":
            delete_tag(one, dice.choice(one.tags.names() or ["-"]))
        case "branch":
            create_branch(store, f"b{step}", dice.choice(tags) if tags else None)
        case "unbranch":
            delete_branch(store, dice.choice(store.branches.names() or ["-"]))
        case "expire":
            expire_snapshots(one, ExpireLimits(1, dice.randint(1, 4), clock.now_ms(), 50))
        case "back":
            rollback_to_snapshot(one, dice.choice(one.snapshots.ids() or [0]))
        case "tagback":
            rollback_to_tag(one, dice.choice(one.tags.names() or ["-"]))
        case "forward":
            fast_forward(store, dice.choice(store.branches.names() or ["-"]))
        case "orphans":
            remove_orphans(store, clock.now_ms() + 1, dry_run=False)


@pytest.mark.parametrize(
    "seed", [*sampled(range(20), 3), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(20, 40))]
)
def test_no_needed_file_is_ever_deleted(seed):
    dice = random.Random(seed)
    store = make_table()
    for step in range(60):
        try:
            one_step(store, dice, step)
        except PaimonError:
            continue  # the step made no sense in this state; the table must be sound all the same
        assert missing(store) == [], f"after step {step}"
    assert find_orphans(store, clock.now_ms() + 1) == []
