"""Single keys are sorted by numbers; texts that share their first bytes, too."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from paimon_nb.table.lsm.merge.groups import MergeSpec, merge_order, sort_and_group

TEXTS = {
    "equal lengths": lambda r: f"order-{r.randint(0, 60):010d}",
    "other lengths": lambda r: f"user/{r.randint(0, 300)}",
    "longer than a number": lambda r: f"{r.choice(['a', 'b'])}/the same for many/{r.randint(0, 60)}",
    "the same first bytes": lambda r: f"{r.randint(0, 40):08d}{'' if r.random() < 0.9 else r.randint(0, 3)}",
    "zero bytes": lambda r: "a" + "".join(r.choice("\0b") for _ in range(r.randint(0, 4))),
    "empty": lambda r: "" * r.randint(0, 1),
    "beyond ASCII": lambda r: "".join(r.choice("é𝄞z") for _ in range(r.randint(0, 4))),
}


@pytest.mark.parametrize("kind", ["string", "binary"])
@pytest.mark.parametrize("family", TEXTS)
@pytest.mark.parametrize("sequence", [True, False])
def test_texts_are_merged_in_the_order_of_their_bytes(kind: str, family: str, sequence: bool) -> None:
    r = random.Random(family)
    for rows in (1, 2, 50, 200):
        texts = [TEXTS[family](r).encode() for _ in range(rows + 1)][1:]
        ages = r.sample(range(rows), rows) if sequence else list(range(rows))
        keys = pa.array([b"not this", *texts], pa.binary()).slice(1).cast(getattr(pa, kind)())
        kv = pa.table({"k": keys, **({"_SEQUENCE_NUMBER": ages} if sequence else {})})
        expected = sorted(range(rows), key=lambda i: (texts[i], ages[i]))
        spec = MergeSpec("deduplicate", (), ("k",))
        assert merge_order(kv, spec).tolist() == expected
        order, starts = sort_and_group(kv, spec)
        found = [texts[i] for i in (np.arange(rows) if order is None else order)]
        assert [found[i] for i in starts] == sorted(set(texts))
