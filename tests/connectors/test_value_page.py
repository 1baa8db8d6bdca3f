"""The page of values is what was recorded."""

from __future__ import annotations

import json

import value_page
from test_cdc_value_matrix import MARIADB, POSTGRES, POSTGRES_AS_TEXT


def test_the_page_is_made_from_the_recorded_values():
    assert value_page.PAGE.read_text() == value_page.page(), "run: python tests/connectors/value_page.py"


def test_every_value_of_the_matrix_is_recorded():
    recorded = json.loads(value_page.RECORDED.read_text())
    for name, types in {"postgres": POSTGRES, "postgres-text": POSTGRES_AS_TEXT, "mariadb": MARIADB}.items():
        assert {t: [v for v, _ in about["values"]] for t, about in recorded[name].items()} == {
            t: list(v) for t, v in types.items()
        }
