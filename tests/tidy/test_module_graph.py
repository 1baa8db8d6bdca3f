"""The module graph inside packages: no import circles, and folders import downwards only. Lazy and type imports count."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from source_kit import PACKAGE, nodes, package_files

FOLDERS = {
    "options": (
        "enums", "option", "materialized", "catalog", "prefix_options", "read", "table", "write", "connector", "table_options", "support",
        "unsupported", "validation", "spelling",
    ),
    "format": (
        "file_errors", "metadata_json", "orc_library", "types", "avro", "row", "schema", "snapshot", "data", "manifest", "index",
        "stats",
    ),
    "table": ("lsm", "read", "write", "tables"),
    "table.lsm": ("levels", "key_chunks", "pick", "compaction_plan", "superseded", "merge", "changelog"),
    "table.read": (
        "external_paths", "side_by_side", "managed_versions", "partition_service", "partition_spec", "sql_session", "own_files", "lost_base", "watchers", "store", "format_table", "live_files", "key_index", "tag_period", "migrated_files",
        "data_evolution", "predicate", "plan", "partition_choice", "split", "strategy", "point_lookup", "row_positions", "row_kinds", "polars_condition", "arrow_condition", "arrow_dataset", "resumable_read",
        "torch_dataset", "query", "row_id_reads", "index_search", "vector_search", "text_search", "numbered_search", "stream",
    ),
    "table.write": (
        "load_history", "iceberg", "cluster", "waiting_rows", "dml_checks", "managed_blobs", "data_file_writer", "dedicated_files", "index_files", "key_index", "publish", "bucket_compact", "row_rewrite",
        "input_rows", "global_index", "dynamic_bucket", "cross_partition", "table_write", "column_file_writer", "build_global_index", "format_table_write", "compact", "maintenance", "commit",
        "row_changes", "column_changes", "merge_builder", "stream_small_files", "stream_committer",
    ),
    "table.tables": ("inspect", "system", "copy", "handle", "reading", "inspection", "schema_change", "altering", "table", "open"),
    "catalog": (
        "replacement", "api", "state_tables", "stored_views", "arrow_schema", "column_directives", "schema_steps", "deletion_vector_toggle", "file_import", "locks", "format_table_rules", "chain_table_rules", "geospatial_rules", "shared_shredding_rules", "blob_rules", "key_index_rules", "schema_validation", "new_tables", "type_promotion", "alter", "metastore", "moved_files", "entry_moves",
        "warehouse", "filesystem", "hive", "iceberg", "jdbc", "rest", "iceberg_registration", "privilege", "open",
    ),
    "syntax": ("tree", "lexer", "words", "operands", "expressions", "queries"),
    "sql": (
        "keywords", "clause_mistakes", "functions", "spark_functions", "completion", "constants", "file_functions", "error_spans", "render", "flink", "qualify", "session_functions", "aggregates", "table_arguments", "table_references", "pushdown",
        "grammar", "simple_select", "column_scopes", "parse", "formatting",
    ),
    "connectors": (
        "api", "datagen_source", "formats", "blackhole", "datagen", "files", "jdbc", "kafka", "print", "registry", "cdc", "mysql_cdc",
        "postgres_cdc",
    ),
    "notebook": (
        *("errors", "key_values", "progress", "snippets", "undo", "grid", "display", "query_history", "table_feed", "connection_model", "recent_connections"),
        *("lsm_model", "lsm_buckets", "timeline_model", "history_model", "create_model", "load_options", "load_model", "stream_model"),
        *("svg", "story", "page", "compaction_svg", "create_svg", "funnel_model", "overview", "origin_model", "pipeline_svg", "home_model", "reports", "why_svg", "explore_model"),
        *("format_tables", "catalog_tree", "inputs", "result_diff", "widgets", "views", "python_cells", "magics", "table_panels", "complete", "editor", "catalog_comm", "extension"),
    ),
    "session": ("core", "query", "streaming", "execute", "materialized", "executor", "spark_resolver"),
    "spark": ("versions", "types", "runtime", "safe_functions", "plan_check", "errors", "jobs", "scan", "write", "worker_daemon", "streaming", "api"),
}  # fmt: skip
"""Per package: its folders and modules, lowest first. Each may import itself and what is before it."""

Graph = Mapping[str, frozenset[str]]


def import_graph() -> Graph:
    """Module -> the modules of the package that it imports, at any level of the file."""
    files = {_module_name(file): file for file in package_files()}
    return {name: frozenset(_imported(file, files) - {name}) for name, file in files.items()}


def _module_name(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def _imported(file: Path, modules: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for node in nodes(file):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & set(modules)
            found.update(submodules or {node.module})
    return found & set(modules)


def circles(graph: Graph) -> list[frozenset[str]]:
    """The strongly connected components with more than one module (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[frozenset[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph[module] & graph.keys():
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            component = frozenset(stack[stack.index(module) :])
            del stack[stack.index(module) :]
            if len(component) > 1:
                found.append(component)

    for module in graph:
        if module not in index:
            visit(module)
    return found


def _child(module: str, package: str) -> str:
    """The folder or module of `package` that contains `module`; empty if none does."""
    prefix = f"paimon_nb.{package}."
    return module.removeprefix(prefix).partition(".")[0] if module.startswith(prefix) else ""


def test_a_circle_is_found() -> None:
    graph = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b"), "d": frozenset("a")}
    assert circles(graph) == [{"b", "c"}]


def test_no_import_circles() -> None:
    assert [sorted(circle) for circle in circles(import_graph())] == []


def test_the_order_of_folders_is_tested_in_every_package_that_has_folders() -> None:
    packages = {folder.parent.name for folder in PACKAGE.glob("*/*/") if (folder / "__init__.py").is_file()}
    assert packages <= FOLDERS.keys()
    assert {f"table.{folder}" for folder in FOLDERS["table"]} <= FOLDERS.keys()


def test_folders_import_downwards_only() -> None:
    graph = import_graph()
    unlisted: set[str] = set()
    upwards: list[str] = []
    for package, folders in FOLDERS.items():
        height = {folder: at for at, folder in enumerate(folders)}
        children = {module: child for module in graph if (child := _child(module, package))}
        unlisted |= {module for module, child in children.items() if child not in height}
        upwards += [
            f"{module} imports {other}"
            for module, child in sorted(children.items())
            for other in graph[module] & children.keys()
            if child in height and height.get(children[other], -1) > height[child]
        ]
    assert unlisted == set()
    assert upwards == []
