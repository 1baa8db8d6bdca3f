"""Level 5: parses SQL text of both dialects into plans. Knows no Spark and no catalog."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr
from paimon_nb.sql.parse import parse, source_query
from paimon_nb.sql.render import render
from paimon_nb.syntax.lexer import Token, tokens

if TYPE_CHECKING:
    from paimon_nb.sql.completion import Completion, completion_context, quote_if_needed
else:
    __getattr__ = lazy_getattr(__name__, {"completion": "Completion completion_context quote_if_needed"})

__all__ = ["Completion", "Token", "completion_context", "parse", "render", "source_query", "tokens", "quote_if_needed"]
