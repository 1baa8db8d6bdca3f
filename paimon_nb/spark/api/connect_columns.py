"""Columns of Spark Connect as SQL text. A classic session's JVM renders its columns; here the client has the expression."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pyspark.sql.connect import expressions as ex
from pyspark.sql.connect.plan import SubqueryAlias
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    IntegerType,
    NullType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from paimon_nb.base.errors import ColumnNotFound, UnsupportedOperation
from paimon_nb.base.identifier import quote, split_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column
    from pyspark.sql.connect.plan import LogicalPlan

_INFIX = {"==": "=", "and": "AND", "or": "OR"} | {o: o for o in ("<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%")}
"""SQL operators by the names of their functions; the SQL of MERGE is searched for equalities of keys."""


def source_alias(plan: LogicalPlan) -> str:
    """The name of a DataFrame's plan from `.alias(...)`, else 'source'."""
    return plan._alias if isinstance(plan, SubqueryAlias) else "source"


class SqlRenderer:
    """Renders columns over a source DataFrame and a target table.

    Args:
        source: the plan of the source. Its columns may be `frame.id` or `frame["id"]`; others are named, as in `col("t.id")`.
        alias: the source's name in the SQL text.
    """

    def __init__(self, source: LogicalPlan, alias: str) -> None:
        self._alias = alias
        self._source_plans = {plan._plan_id for plan in _source_plan_and_inputs(source)}

    def __call__(self, column: Column) -> str:
        """A column as SQL text.

        Raises:
            ColumnNotFound: a column of another DataFrame.
            UnsupportedOperation: an expression without SQL text, such as a Python function that is not registered.
        """
        return self._text(column._expr)

    def _text(self, e: Any) -> str:
        match e:
            case ex.ColumnAlias():
                return self._text(e._child)
            case ex.ColumnReference():
                return self._reference(e)
            case ex.LiteralExpression():
                return _literal(e._value, e._dataType)
            case ex.SQLExpression():
                return f"({e._expr})"
            case ex.UnresolvedFunction():
                return self._function(e)
            case ex.CallFunction():
                return f"{'.'.join(map(quote, split_name(e._name)))}({self._arguments(e._args)})"
            case ex.CaseWhen():
                whens = [f"WHEN {self._text(c)} THEN {self._text(v)}" for c, v in e._branches]
                default = [] if e._else_value is None else [f"ELSE {self._text(e._else_value)}"]
                return f"CASE {' '.join([*whens, *default])} END"
            case ex.CastExpression():
                kind = e._data_type.simpleString() if isinstance(e._data_type, DataType) else e._data_type
                return f"{'TRY_CAST' if e._eval_mode == 'try' else 'CAST'}({self._text(e._expr)} AS {kind})"
            case ex.UnresolvedExtractValue():
                return f"{self._text(e._child)}[{self._text(e._extraction)}]"
            case ex.LambdaFunction():
                names = self._arguments(e._arguments)
                return f"{names if len(e._arguments) == 1 else f'({names})'} -> {self._text(e._function)}"
            case ex.UnresolvedNamedLambdaVariable():
                return ".".join(map(quote, e._name_parts))
        raise UnsupportedOperation(
            f"with Spark Connect, mergeInto cannot use the expression {e}",
            hint="write it in SQL with expr(...), or compute it as a column of the source; spark.udf.register gives a function a name",
        )

    def _reference(self, e: Any) -> str:
        names = split_name(e._unparsed_identifier)
        if e._plan_id is None:
            return ".".join(map(quote, names))
        if e._plan_id not in self._source_plans:
            raise ColumnNotFound(
                f"column {e._unparsed_identifier!r} belongs to another DataFrame than the source of the merge",
                hint="name columns of the target as col('table.column')",
                column=e._unparsed_identifier,
            )
        return ".".join(map(quote, (self._alias, *names)))

    def _function(self, e: Any) -> str:
        if e._name in _INFIX and len(e._args) == 2:
            return f"({self._text(e._args[0])} {_INFIX[e._name]} {self._text(e._args[1])})"
        distinct = "DISTINCT " if e._is_distinct else ""
        return f"{quote(e._name)}({distinct}{self._arguments(e._args)})"

    def _arguments(self, arguments: Any) -> str:
        return ", ".join(map(self._text, arguments))


def _source_plan_and_inputs(plan: LogicalPlan | None) -> Iterator[LogicalPlan]:
    """A plan, its input, the input's input and so on."""
    while plan is not None:
        yield plan
        plan = plan._child


def _literal(value: Any, kind: DataType) -> str:
    """A literal of Spark's type as SQL text; `value` is Spark's internal one."""
    if value is None:
        return "NULL" if isinstance(kind, NullType) else f"CAST(NULL AS {kind.simpleString()})"
    match kind:
        case BooleanType() | IntegerType():
            return str(value).lower()
        case StringType():
            # Dialects differ in how a quote and a backslash are written.
            plain = "'" not in value and "\\" not in value
            return f"'{value}'" if plain else f"CAST(X'{value.encode().hex()}' AS STRING)"
        case BinaryType():
            return f"X'{bytes(value).hex()}'"
        case DateType():
            return f"date_from_unix_date({value})"
        case TimestampType():
            return f"timestamp_micros({value})"
        case TimestampNTZType():
            return f"TIMESTAMP_NTZ '{datetime(1970, 1, 1) + timedelta(microseconds=value)}'"
        case DayTimeIntervalType():
            return f"make_dt_interval(0, 0, 0, CAST('{Decimal(value).scaleb(-6):f}' AS DECIMAL(18, 6)))"
        case DecimalType():  # Spark's client gives each the type decimal(10, 0), and the server that of its digits
            digits, exponent = f"{value:f}".lstrip("-").replace(".", ""), value.as_tuple().exponent
            return f"CAST('{value:f}' AS DECIMAL({len(digits)}, {max(-exponent, 0)}))"
        case ArrayType():
            return f"array({', '.join(_literal(v, kind.elementType) for v in value)})"
    return f"CAST('{value}' AS {kind.simpleString()})"
