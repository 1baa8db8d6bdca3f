"""Level 5: parses SQL text of both dialects into plans. Knows no Spark and no catalog."""

from paimon_nb.sql.completion import Completion, completion_context, quote_if_needed
from paimon_nb.sql.parse import parse, source_query
from paimon_nb.sql.render import render
from paimon_nb.syntax.lexer import Token, tokens

__all__ = ["Completion", "Token", "completion_context", "parse", "render", "source_query", "tokens", "quote_if_needed"]
