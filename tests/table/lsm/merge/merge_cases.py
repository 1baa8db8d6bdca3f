"""All cases by name."""

from __future__ import annotations

import cases_aggregate
import cases_changelog
import cases_engine

CASES = (*cases_aggregate.CASES, *cases_engine.CASES, *cases_changelog.CASES)
