"""The JVM behind a classic Spark session. PySpark's private names are used in this module only.

PySpark promises none of these names. They are here so that a new PySpark release is checked and adapted to in one place.
A Spark Connect session has no JVM in this process: `has_bridge` is False for it and for its DataFrames, and the other
functions raise AttributeError.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from paimon_nb.spark.runtime.jvm_types import (
        ExecutorInfo,
        Expression,
        Gateway,
        JavaField,
        JavaObject,
        JavaStreamingQuery,
        Plan,
        QueryExecution,
        WorkerFactory,
    )

BLOCK_BYTES = 1 << 17
"""Bytes to pass to or from the JVM at a time. Larger arrays, of which a copy has several, would be garbage that makes its heap grow."""


def has_bridge(owner: DataFrame | SparkSession) -> bool:
    """Whether a DataFrame or a session belongs to a JVM that this process talks to.

    The class decides: since release 4.3 a DataFrame of Spark Connect takes every unknown attribute for a column.
    """
    if any(kind.__module__.startswith("pyspark.sql.connect.") for kind in type(owner).__mro__):
        return False
    return not isinstance(owner, _session_class()) or owner._jvm is not None


@cache
def _session_class() -> type[SparkSession]:
    from pyspark.sql import SparkSession as ClassicSession

    return ClassicSession


def has_local_master(spark: SparkSession) -> bool:
    """Whether tasks run in the JVM of the driver, so that no executor can be lost. False in Spark Connect."""
    if not has_bridge(spark):
        return False
    master = spark.sparkContext.master or "local"
    return master == "local" or master.startswith("local[")


def jvm(spark: SparkSession) -> Any:
    """The packages of the session's JVM: `jvm(spark).java.lang.System`. Names are looked up in the JVM, so none is typed."""
    return spark._jvm


def hadoop_configuration(spark: SparkSession) -> Any:
    """A new Hadoop `Configuration` with the session's settings."""
    return spark._jsparkSession.sessionState().newHadoopConf()


def sql_parser(spark: SparkSession) -> Any:
    """The parser of the session: `parsePlan(text)`, `parseExpression(text)`. It evaluates nothing."""
    return spark._jsparkSession.sessionState().sqlParser()


def query_execution(frame: DataFrame) -> QueryExecution:
    """The JVM's `QueryExecution` of a DataFrame."""
    execution: QueryExecution = frame._jdf.queryExecution()
    return execution


def logical_plan(frame: DataFrame) -> Plan:
    """The plan as it was built, before analysis."""
    return query_execution(frame).logical()


def analyzed_plan(frame: DataFrame) -> Plan:
    """The plan with every name and type resolved."""
    return query_execution(frame).analyzed()


def optimized_plan(frame: DataFrame) -> Plan:
    """The plan after Spark's optimizer rules."""
    return query_execution(frame).optimizedPlan()


def explain_text(frame: DataFrame, mode: str) -> str:
    """What `EXPLAIN` prints for a DataFrame. Modes: simple, extended, codegen, cost, formatted."""
    if not has_bridge(frame):
        return str(cast("Any", frame)._explain_string(mode=mode)).strip()
    return str(jvm(frame.sparkSession).PythonSQLUtils.explainString(query_execution(frame), mode)).strip()


def collect_batches(frame: DataFrame) -> list[pa.RecordBatch] | None:
    """Collect a DataFrame as Arrow batches, at least one; None in Spark Connect.

    `DataFrame.toArrow()` also casts them, which fails on a NULL VARIANT.
    """
    if not has_bridge(frame):
        return None
    collect = cast("Callable[..., list[pa.RecordBatch]]", frame._collect_as_arrow)
    return collect(empty_list_if_zero_records=False)


def cached_bytes(frame: DataFrame) -> int | None:
    """Bytes that a cached DataFrame takes in Spark's block store; None until all of its partitions are cached."""
    cached = frame.sparkSession._jsparkSession.sharedState().cacheManager().lookupCachedData(frame._jdf)
    if cached.isEmpty():
        return None
    relation = cached.get().cachedRepresentation()
    if not relation.cacheBuilder().isCachedColumnBuffersLoaded():
        return None
    return int(str(relation.computeStats().sizeInBytes()))


def deferred_frame(session: SparkSession, make: Callable[[], DataFrame]) -> DataFrame:
    """The DataFrame that `make` returns, which runs when the frame is first used: it takes a dozen calls to the JVM.

    Args:
        session: a classic session, which the DataFrame belongs to.
        make: returns the same rows whenever it is called.
    """
    frame: DataFrame = _deferred_class()(None, session)
    del frame._jdf
    vars(frame)["_make"] = make
    return frame


@cache
def _deferred_class() -> Any:
    """The class of frames without a Java object; made here, as importing PySpark takes long."""
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

    class DeferredFrame(ClassicFrame):
        """Becomes an ordinary DataFrame when its Java object is first looked up."""

        def __getattr__(self, name: str) -> Any:
            if name != "_jdf":
                return super().__getattr__(name)
            self._jdf = vars(self)["_make"]()._jdf
            self.__class__ = ClassicFrame  # type: ignore[assignment]  # same layout, without this method
            return self._jdf

    return DeferredFrame


def with_session(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The same DataFrame whose `sparkSession` is another Python session of the same session in the JVM or the server."""
    if not has_bridge(frame):
        return type(frame)(frame._plan, session)
    return type(frame)(frame._jdf, session)


def in_cloned_session(frame: DataFrame, conf: dict[str, str]) -> DataFrame:
    """The same rows in a clone of the session, with other settings. The frame's own session keeps its settings."""
    from pyspark.sql import SparkSession

    session = frame.sparkSession
    clone = SparkSession(session.sparkContext, session._jsparkSession.cloneSession())
    for key, value in conf.items():
        clone.conf.set(key, value)
    dataset = jvm(session).org.apache.spark.sql.classic.Dataset
    return type(frame)(dataset.ofRows(clone._jsparkSession, analyzed_plan(frame)), clone)


def plan_text(frame: DataFrame) -> str:
    """The analyzed plan of a DataFrame. Its columns have ids, which no other DataFrame has unless it is derived from this one."""
    return str(analyzed_plan(frame).toString())


def with_replaced_plans(frame: DataFrame, replacement: Callable[[str], DataFrame | None]) -> DataFrame:
    """The DataFrame with other rows in some parts of its plan, whose columns keep their ids.

    Args:
        frame: a DataFrame of a classic session.
        replacement: takes the `plan_text` of a part; returns rows with the same columns, or None to keep the part.
    """
    session = frame.sparkSession
    java: Any = jvm(session)
    catalyst = java.org.apache.spark.sql.catalyst

    def with_ids_of(part: Plan, rows: DataFrame) -> Any:
        other: Any = analyzed_plan(rows)
        columns = []
        for i in range(part.output().size()):
            old: Any = part.output().apply(i)
            columns.append(
                catalyst.expressions.Alias(
                    other.output().apply(i), old.name(), old.exprId(), old.qualifier(), java.scala.Option.empty(),
                    java.PythonUtils.toSeq([]),
                )
            )  # fmt: skip
        return catalyst.plans.logical.Project(java.PythonUtils.toSeq(columns), other)

    def replaced(part: Any) -> Any:
        rows = replacement(part.toString())
        if rows is not None:
            return with_ids_of(part, rows)
        children = [part.children().apply(i) for i in range(part.children().size())]
        others = [replaced(child) for child in children]
        if all(a is b for a, b in zip(children, others, strict=True)):
            return part
        return part.withNewChildren(java.PythonUtils.toSeq(others))

    plan = analyzed_plan(frame)
    other = replaced(plan)
    if other is plan:
        return frame
    dataset = java.org.apache.spark.sql.classic.Dataset
    return type(frame)(dataset.ofRows(session._jsparkSession, other), session)


def column_text(column: Column) -> str:
    """A column expression as Spark prints it."""
    return cast("JavaObject", column._jc).toString()


def java_long_array(spark: SparkSession, big_endian: bytes) -> JavaObject:
    """A Java `long[]` from big-endian 64-bit integers, copied in blocks."""
    packages, context = jvm(spark), spark.sparkContext
    assert context._gateway is not None, "a running session has a gateway"
    array: JavaObject = context._gateway.new_array(packages.long, len(big_endian) // 8)
    target = packages.java.nio.LongBuffer.wrap(array)
    for begin in range(0, len(big_endian), BLOCK_BYTES):
        block = bytearray(big_endian[begin : begin + BLOCK_BYTES])
        target.put(packages.java.nio.ByteBuffer.wrap(block).asLongBuffer())
    return array


def java_array(spark: SparkSession, kind: str, items: Sequence[Any]) -> JavaObject:
    """A Java array of objects of a class."""
    context = spark.sparkContext
    assert context._gateway is not None, "a running session has a gateway"
    element = jvm(spark)
    for part in kind.split("."):
        element = getattr(element, part)
    array: Any = context._gateway.new_array(element, len(items))
    for i, item in enumerate(items):
        array[i] = item
    return array  # type: ignore[no-any-return]


def column_of(spark: SparkSession, expression: Expression) -> Column:
    """A Catalyst expression as a Python column."""
    from pyspark.sql.classic.column import Column

    return Column(jvm(spark).org.apache.spark.sql.classic.ExpressionUtils.column(expression))


def input_rows_of_stages(context: SparkContext, stages: Iterable[int]) -> int:
    """Input rows of these stages so far; 0 for stages that Spark has forgotten, or does not know yet."""
    store = cast("Any", context._jsc).sc().statusStore()
    rows = 0
    for stage in stages:
        with suppress(Exception):
            rows += int(store.lastStageAttempt(stage).inputRecords())
    return rows


def running_tasks(context: SparkContext) -> int:
    """Number of tasks that run now, also those of cancelled jobs."""
    return sum(int(e.numRunningTasks()) for e in cast("Any", context._jsc).sc().statusTracker().getExecutorInfos())


def local_property(frame: DataFrame, key: str) -> str | None:
    """A local property of the thread that runs a DataFrame's job, such as `sql.streaming.queryId`."""
    value = frame._jdf.sparkSession().sparkContext().getLocalProperty(key)
    return None if value is None else str(value)


def java_query(query: StreamingQuery) -> JavaStreamingQuery:
    """The JVM's object behind a `StreamingQuery`.

    `query.lastProgress` and `query.recentProgress` copy each progress report, in about sixty calls to the JVM.
    """
    java: JavaStreamingQuery = query._jsq
    return java


def end_offsets(query: StreamingQuery) -> list[str | None]:
    """The offset of each source after the last reported micro-batch, as JSON text; also in Spark Connect. Empty without a report."""
    if not hasattr(query, "_jsq"):
        report = query.lastProgress
        return [] if report is None else [source.endOffset for source in report.sources]
    progress = java_query(query).lastProgress()
    return [] if progress is None else [source.endOffset() for source in progress.sources()]


def executor_infos(spark: SparkSession) -> Iterable[ExecutorInfo]:
    """`SparkExecutorInfo` of each executor: `numRunningTasks()`, `host()`, ..."""
    infos: Iterable[ExecutorInfo] = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return infos


def python_worker_pools() -> Iterator[WorkerFactory]:
    """The JVM's pools of Python workers (`PythonWorkerFactory`). Empty without a running Spark in this process."""
    context = active_context()
    if context is None or context._jvm is None:
        return
    # Py4J lists all methods of an object before a call. For SparkEnv of 4.3 this fails: optional classes are missing.
    env = context._jvm.java.lang.Class.forName("org.apache.spark.SparkEnv")
    pools = _read_field(env.getDeclaredField("pythonWorkers"), context._jsc.sc().env()).valuesIterator()
    while pools.hasNext():
        yield pools.next()


def private_field(owner: JavaObject, name: str) -> Any:
    """The value of a private field of a Java object."""
    return _read_field(owner.getClass().getDeclaredField(name), owner)


def _read_field(field: JavaField, owner: JavaObject) -> Any:
    field.setAccessible(True)
    return field.get(owner)


def active_context() -> SparkContext | None:
    """The SparkContext of this process, if there is one."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context


def py4j_gateway(spark: SparkSession) -> Gateway:
    """The Py4J gateway of a session's JVM."""
    found: Gateway | None = spark.sparkContext._gateway
    assert found is not None, "a running session has a gateway"
    return found


def running_gateway() -> Gateway | None:
    """The Py4J gateway of this process, or None."""
    from pyspark import SparkContext

    return SparkContext._gateway


def launch_jvm_gateway(conf: SparkConf, descriptor: int) -> Gateway:
    """Start a JVM whose standard output and error go to a file descriptor. Returns its Py4J gateway."""
    from pyspark import java_gateway

    start: Callable[..., Gateway] = java_gateway.launch_gateway
    return start(conf, popen_kwargs={"stdout": descriptor, "stderr": descriptor})


def default_session() -> SparkSession | None:
    """The session that `SparkSession.builder.getOrCreate()` of this process returns, if one exists."""
    from pyspark.sql import SparkSession

    return SparkSession._instantiatedSession


def set_default_session(session: SparkSession) -> None:
    """Make `SparkSession.builder.getOrCreate()` and `getActiveSession()` return this session."""
    from pyspark.sql import SparkSession

    SparkSession._instantiatedSession = SparkSession._activeSession = session


def plain_session(session: SparkSession) -> SparkSession:
    """The session below one of `spark.api`; any other session as it is."""
    plain: SparkSession = vars(session).get("_plain", session)
    return plain


def is_alive(session: SparkSession) -> bool:
    """False after the session was stopped."""
    return getattr(session, "_sc", None) is not None and session._sc._jsc is not None
