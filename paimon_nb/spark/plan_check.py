"""Checks SQL that the user did not write, before Spark analyses it: texts stored in catalogs and tables, and statements of assistants.

Spark's own parser reads the text, and what it returns is compared with allow-lists: operators, expressions, functions and relations. What
is not known is refused. The check comes before the analysis, because the analysis already evaluates constants: `LIMIT f()`, `IDENTIFIER(f())`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.spark.runtime.jvm_bridge import has_bridge, jvm, sql_parser
from paimon_nb.spark.safe_functions import SAFE_FUNCTIONS, SAFE_OPERATORS
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from pyspark.sql import SparkSession

_CATALYST = "org.apache.spark.sql.catalyst."
_OPERATORS = frozenset(
    {"Aggregate", "Distinct", "Except", "Filter", "Generate", "GlobalLimit", "Intersect", "Join", "LateralJoin", "LimitAll", "LocalLimit",
     "LocalRelation", "Offset", "OneRowRelation", "Pivot", "Project", "RepartitionByExpression", "Sample", "Sort", "SubqueryAlias",
     "Union", "Unpivot", "UnresolvedHint", "UnresolvedWith", "WithWindowDefinition"}
)  # fmt: skip
"""Of the package `plans.logical`. Not among them: ScriptTransformation, commands, INSERT OVERWRITE DIRECTORY."""
_UNRESOLVED = frozenset(
    {"MultiAlias", "UnresolvedAlias", "UnresolvedAttribute", "UnresolvedExtractValue", "UnresolvedFunction", "UnresolvedGenerator",
     "UnresolvedHaving", "UnresolvedInlineTable", "UnresolvedOrdinal", "UnresolvedPipeAggregateOrdinal", "UnresolvedRegex", "UnresolvedRelation",
     "UnresolvedStar", "UnresolvedStarExceptOrReplace", "UnresolvedSubqueryColumnAliases", "UnresolvedTVFAliases",
     "UnresolvedTableValuedFunction"}
)  # fmt: skip
"""Of the package `analysis`. Not among them: IDENTIFIER(...), EXECUTE IMMEDIATE, parameters, time travel of Spark's own tables."""
_EXPRESSIONS = frozenset(
    {"Add", "Alias", "And", "AttributeReference", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "CaseWhen", "Cast", "Coalesce", "Collate",
     "Concat", "CreateNamedStruct", "Cube", "CurrentDate", "CurrentTime", "CurrentTimestamp", "CurrentUser", "Divide", "EqualNullSafe", "EqualTo",
     "Exists", "GreaterThan", "GreaterThanOrEqual", "GroupingSets", "Hex", "ILike", "In", "InSubquery", "IntegralDivide", "IsNotNull",
     "IsNotUnknown", "IsNull", "IsUnknown", "LambdaFunction", "LateralSubquery", "LessThan", "LessThanOrEqual", "Like", "LikeAll", "LikeAny",
     "ListQuery", "Literal", "Lower", "Multiply", "NamedArgumentExpression", "Not", "NotLikeAll", "NotLikeAny", "Or", "Overlay",
     "PipeExpression", "PipeOperator", "RLike", "Remainder", "Rollup", "ScalarSubquery", "SemiStructuredExtract", "ShiftLeft", "ShiftRight", "ShiftRightUnsigned",
     "SortOrder", "SpecifiedWindowFrame", "StringLocate", "StringTrim", "StringTrimLeft", "StringTrimRight", "Substring", "Subtract",
     "TimestampAdd", "TimestampDiff", "UnaryMinus", "UnaryPositive", "UnresolvedCollation", "UnresolvedNamedLambdaVariable",
     "UnresolvedWindowExpression", "WindowExpression", "WindowSpecDefinition", "WindowSpecReference", "UnspecifiedFrame$", "CurrentRow$",
     "UnboundedFollowing$", "UnboundedPreceding$", "aggregate.AggregateExpression", "aggregate.AnyValue", "aggregate.First", "aggregate.Last"}
)  # fmt: skip
"""Of the package `expressions`: what the parser makes itself. Functions are `UnresolvedFunction`s, and their names are checked."""
_VALUES = ("java.lang.", "java.math.", "java.time.", "java.util.UUID", "org.apache.spark.sql.types.", "org.apache.spark.unsafe.types.", "scala.None$",
           "scala.collection.immutable.Nil$", "scala.math.", "scala.Enumeration", "[B")  # fmt: skip
"""Beginnings of the names of classes that hold a value, and no part of a query."""
_EMPTY_MAP = "org.apache.spark.sql.util.CaseInsensitiveStringMap"
_OWN_VIEW = re.compile(r"__paimon_\d+")
_HINT = "a notebook runs it as your own statement"
_BEFORE_BRACKET = frozenset(
    """ALL AND ANY ARRAY AS BY CASE CAST CEIL CROSS CUBE DECIMAL DISTINCT ELSE END EXCEPT EXISTS EXTRACT FILTER FLOOR FROM GROUP HAVING ILIKE IN
    INTERSECT JOIN LATERAL LIKE LIMIT MAP NOT NUMERIC OFFSET ON OR OVER OVERLAY PIVOT POSITION REPLACE RLIKE ROLLUP SELECT SETS SOME
    STRUCT SUBSTR SUBSTRING TABLESAMPLE THEN TRIM TRY_CAST UNION UNPIVOT USING VALUES CHAR VARCHAR DEC WHEN WHERE WITH WITHIN""".split()  # noqa: SIM905
)
"""Words of SQL that a bracket may follow."""


_MAX_PASSED = 1_000
_passed: set[tuple[str, frozenset[str] | None]] = set()
"""Texts that passed, with the functions that they may call besides; None: an expression. What passes depends on nothing else."""


class _Refused(UnsupportedOperation):
    """Something that is not known to only read."""


def check_query(
    spark: SparkSession,
    text: str,
    what: str,
    *,
    functions: Collection[str] = (),
    relation: Callable[[tuple[str, ...]], bool] = lambda _parts: False,
) -> None:
    """Raise UnsupportedOperation for a query that may do more than read tables.

    Args:
        spark: its parser is used; nothing of the text is evaluated.
        text: Spark SQL, with the names of views of this package in place of tables.
        what: names the text in errors, 'view a.b'.
        functions: names that may be called besides SAFE_FUNCTIONS.
        relation: whether a name that is not such a view may be read.
    """
    known = frozenset(f.lower() for f in functions)
    key = (_OWN_VIEW.sub("__paimon_0", text), known)
    if key in _passed:
        return
    if not has_bridge(spark):
        _check_words(text, what, known)
    elif not _check_tree(spark, _parsed(spark, "parsePlan", text), what, known, relation):
        return
    _remember(key)


def check_expression(spark: SparkSession, text: str, what: str) -> None:
    """Raise UnsupportedOperation for an expression that may do more than compute a value. Arguments as in `check_query`."""
    key = (text, None)
    if key in _passed:
        return
    if has_bridge(spark):
        _check_tree(spark, _parsed(spark, "parseExpression", text), what, frozenset(), lambda _parts: False)
    else:
        _check_words(text, what, frozenset())
    _remember(key)


def _remember(key: tuple[str, frozenset[str] | None]) -> None:
    if len(_passed) >= _MAX_PASSED:
        _passed.clear()
    _passed.add(key)


def _parsed(spark: SparkSession, method: str, text: str) -> Any:
    """What Spark's parser returns. Raises the error of Spark."""
    return getattr(sql_parser(spark), method)(text)


def _check_tree(
    spark: SparkSession,
    root: Any,
    what: str,
    known: Collection[str],
    relation: Callable[[tuple[str, ...]], bool],
) -> bool:
    """Whether the text reads only views of this package, so that it passes whatever else exists."""
    others = False
    named: set[str] = set()
    read: list[tuple[str, ...]] = []
    for name, node in _nodes(spark, root, what):
        match name:
            case "analysis.UnresolvedFunction":
                _check_function(_strings(node.nameParts()), known, what)
            case "analysis.UnresolvedGenerator":
                _check_function((str(node.name().unquotedString()),), known, what)
            case "analysis.UnresolvedTableValuedFunction":
                _check_function(_strings(node.name()), known, what)
            case "analysis.UnresolvedRelation":
                if node.isStreaming() or not node.options().isEmpty():
                    raise _Refused(f"{what}: a table with options or as a stream is refused", hint=_HINT)
                read.append(_strings(node.multipartIdentifier()))
            case "plans.logical.UnresolvedWith":
                named |= {str(pair._1()).lower() for pair in _items(node.cteRelations())}
    for parts in read:
        is_known = len(parts) == 1 and (_OWN_VIEW.fullmatch(parts[0]) or parts[0].lower() in named)
        if not is_known and not relation(parts):
            name = ".".join(parts)
            raise _Refused(f"{what}: {name} is not a table of a catalog, and is not read", hint=_HINT, name=name)
        others = others or not is_known
    return not others


def _check_function(parts: tuple[str, ...], known: Collection[str], what: str) -> None:
    *prefix, last = (p.lower() for p in parts)
    if prefix in ([], ["builtin"], ["system", "builtin"]) and (
        last in SAFE_FUNCTIONS or last in SAFE_OPERATORS or (not prefix and last in known)
    ):
        return
    name = ".".join(parts)
    raise _Refused(
        f"{what}: the function {name} is not among those that only compute a value", hint=_HINT, function=name
    )


def _nodes(spark: SparkSession, root: Any, what: str) -> Iterator[tuple[str, Any]]:
    """All nodes of a parsed text with the names of their classes below `catalyst`: also those in lists, pairs and fields."""
    classes = _Classes(spark)
    todo: list[tuple[str, Any]] = [(classes.name(root), root)]
    while todo:
        name, item = todo.pop()
        if name.startswith(_CATALYST):
            short = name.removeprefix(_CATALYST)
            if _is_allowed_node(short):
                yield short, item
            elif classes.is_tree_node(item):
                raise _Refused(f"{what}: {_readable(short)} is not known to only read, and is refused", hint=_HINT)
            if not classes.is_product(item):
                continue
            children = item.productIterator().toIndexedSeq()
        elif name.startswith(("scala.Some", "scala.Tuple")):
            children = item.productIterator().toIndexedSeq()
        elif name.startswith("scala.collection."):
            children = item.toIndexedSeq()
        elif name == _EMPTY_MAP and item.isEmpty():
            continue
        else:
            raise _Refused(f"{what}: {_readable(name)} is not known to only read, and is refused", hint=_HINT)
        names = classes.names(children)
        todo += [(n, children.apply(i)) for i, n in enumerate(names) if n and not n.startswith(_VALUES)]


def _is_allowed_node(short: str) -> bool:
    package, _, name = short.rpartition(".")
    match package:
        case "plans.logical":
            return name.removesuffix("$") in _OPERATORS
        case "analysis":
            return name in _UNRESOLVED
        case "expressions":
            return name in _EXPRESSIONS
        case "expressions.aggregate":
            return f"aggregate.{name}" in _EXPRESSIONS
    return False


def _readable(name: str) -> str:
    """`ScriptTransformation` as 'script transformation'."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.rpartition(".")[2].partition("$")[0]).lower()


def _items(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(i) for i in range(sequence.size()))


def _strings(sequence: Any) -> tuple[str, ...]:
    return tuple(str(s) for s in _items(sequence))


class _Classes:
    """Classes of objects in the JVM, with few calls."""

    def __init__(self, spark: SparkSession) -> None:
        lang = jvm(spark).java.lang
        loader = lang.Thread.currentThread().getContextClassLoader()

        def found(name: str) -> Any:
            return lang.Class.forName(name, True, loader)

        self._tree_node, self._product = found(f"{_CATALYST}trees.TreeNode"), found("scala.Product")
        handles, types = lang.invoke.MethodHandles, lang.invoke.MethodType
        public = handles.publicLookup()
        get_class = public.findVirtual(
            found("java.lang.Object"), "getClass", types.methodType(found("java.lang.Class"))
        )
        get_name = public.findVirtual(found("java.lang.Class"), "getName", types.methodType(found("java.lang.String")))
        self._name = lang.invoke.MethodHandleProxies.asInterfaceInstance(
            found("scala.Function1"), handles.filterReturnValue(get_class, get_name)
        )

    def name(self, item: Any) -> str:
        return str(item.getClass().getName())

    def names(self, items: Any) -> list[str]:
        """The names of the classes of a sequence's items, in one call; '' for null."""
        from py4j.protocol import Py4JJavaError

        try:
            text = str(items.map(self._name).mkString("\n"))
        except Py4JJavaError:  # one of them is null
            return [self.name(item) if hasattr(item, "_target_id") else "" for item in _items(items)]
        return text.split("\n") if text else []

    def is_tree_node(self, item: Any) -> bool:
        return bool(self._tree_node.isInstance(item))

    def is_product(self, item: Any) -> bool:
        return bool(self._product.isInstance(item))


def _check_words(text: str, what: str, functions: frozenset[str]) -> None:
    """The check without a JVM in this process (Spark Connect): a call must be of a known function, no command and no path may be named."""
    known = SAFE_FUNCTIONS | functions
    words = tokens(text)
    for before, word, after in _with_neighbours(words):
        if word.upper == "USING" and after is not None and after.kind == "string":
            raise _Refused(f"{what}: script transformation is refused", hint=_HINT)
        if word.is_name and after is not None and after.text == ".":
            following = words[words.index(after) + 1 :][:1]
            if following and following[0].kind == "quoted" and not following[0].name.replace("_", "").isalnum():
                raise _Refused(f"{what}: {word.name}.{following[0].name} is not read", hint=_HINT)
        if not word.is_name or after is None or after.text != "(":
            continue
        is_dotted = before is not None and before.text == "."
        if word.upper in _BEFORE_BRACKET and word.kind == "word" and not is_dotted:
            continue
        if is_dotted or word.name.lower() not in known:
            raise _Refused(
                f"{what}: the function {word.name} is not among those that only compute a value", hint=_HINT, function=word.name
            )  # fmt: skip


def _with_neighbours(words: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    return zip([None, *words], words, [*words[1:], None], strict=False)
