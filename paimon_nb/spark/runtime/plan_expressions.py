"""The expressions of an analysed query, listed in the JVM: a call from Python for each of them would take longer than the analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.spark.runtime.jvm_bridge import java_array, jvm

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pyspark.sql import SparkSession

    from paimon_nb.spark.runtime.jvm_types import Expression, Plan, ScalaSeq

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FoundExpression:
    """An expression of a class that was searched for."""

    name: str
    """The name of its class."""
    expression: Expression
    parent: Expression | None


def expressions_of(spark: SparkSession, plan: Plan, names: Collection[str]) -> Iterator[FoundExpression]:
    """The expressions of an analysed query and its subqueries that have one of these classes, except those of views."""
    listed = _listed_expressions(spark, plan)
    if listed is None:
        yield from (f for f in _visited_expressions(plan) if f.name in names)
        return
    found, classes = listed
    for i, name in enumerate(classes):
        if name in names:
            # Callers only need an Alias as a parent, and its child follows it.
            parent = found.apply(i - 1) if i and classes[i - 1] == "Alias" else None
            yield FoundExpression(name, found.apply(i), parent)


def _listed_expressions(spark: SparkSession, plan: Plan) -> tuple[ScalaSeq[Expression], list[str]] | None:
    """All expressions, each before its children, and the names of their classes.

    None for a query with views, whose expressions are not wanted, and for one with subqueries, which are plans of their own.
    """
    functions = _ScalaFunctions(spark)
    name = functions.of_method("org.apache.spark.sql.catalyst.trees.TreeNode", "nodeName", "java.lang.String")
    if "View" in _joined_names(plan, name):
        return None
    with_children = functions.list_of_tree()
    of_operator = functions.of_method(
        "org.apache.spark.sql.catalyst.plans.QueryPlan", "expressions", "scala.collection.immutable.Seq"
    )
    operators: Any = plan
    found = operators.flatMap(of_operator).flatMap(with_children).toIndexedSeq()
    names = _joined_names(found, name)
    return None if any(map(_has_plan, names)) else (found, names)


def _joined_names(nodes: Any, name: Any) -> list[str]:
    text = str(nodes.map(name).mkString("\n"))
    return text.split("\n") if text else []


def _has_plan(name: str) -> bool:
    """Whether expressions of this class contain a query."""
    return (name.endswith("Subquery") and name != "InSubquery") or name in ("Exists", "ListQuery")


class _ScalaFunctions:
    """Functions of Scala that call a method: Python cannot pass a function to the JVM."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._invoke = jvm(spark).java.lang.invoke

    def of_method(self, owner: str, method: str, result: str) -> Any:
        """`x => x.method` for a method without arguments."""
        kind = self._invoke.MethodType.methodType(self._class(result))
        return self._function(self._invoke.MethodHandles.publicLookup().findVirtual(self._class(owner), method, kind))

    def list_of_tree(self) -> Any:
        """`x => x.map(y => y)`: a tree as a list of its nodes."""
        handles = self._invoke.MethodHandles
        same = self._function(handles.identity(self._class("java.lang.Object")))
        kind = self._invoke.MethodType.methodType(
            self._class("scala.collection.immutable.Seq"), self._class("scala.Function1")
        )
        tree = self._class("org.apache.spark.sql.catalyst.trees.TreeNode")
        mapped = handles.publicLookup().findVirtual(tree, "map", kind)
        argument = java_array(self._spark, "java.lang.Object", [same])
        return self._function(handles.insertArguments(mapped, 1, argument))

    def _function(self, handle: Any) -> Any:
        return self._invoke.MethodHandleProxies.asInterfaceInstance(self._class("scala.Function1"), handle)

    def _class(self, name: str) -> Any:
        lang = jvm(self._spark).java.lang
        return lang.Class.forName(name, True, lang.Thread.currentThread().getContextClassLoader())


def _visited_expressions(plan: Plan) -> Iterator[FoundExpression]:
    """All expressions of an analysed query, including those of its subqueries."""
    if plan.getClass().getSimpleName() == "View":
        return  # a view's expressions are not in the user's text
    for e in scala_items(plan.expressions()):
        yield from _with_subexpressions(e, None)
    for child in scala_items(plan.children()):
        yield from _visited_expressions(child)


def _with_subexpressions(e: Expression, parent: Expression | None) -> Iterator[FoundExpression]:
    name = e.getClass().getSimpleName()
    yield FoundExpression(name, e, parent)
    if _has_plan(name):
        yield from _visited_expressions(e.plan())
    for child in scala_items(e.children()):
        yield from _with_subexpressions(child, e)


def scala_items(sequence: ScalaSeq[T]) -> Iterator[T]:
    """The items of a sequence in the JVM."""
    return (sequence.apply(i) for i in range(sequence.size()))
