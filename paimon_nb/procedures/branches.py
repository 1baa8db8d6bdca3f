"""Branches: create, delete, rename, fast-forward, merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.identifier import MAIN_BRANCH
from paimon_nb.procedures.procedure import Argument, Context, Procedure, success, table_argument
from paimon_nb.table.write.maintenance import create_branch, delete_branch, fast_forward, merge_branch, rename_branch

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

_BRANCH = Argument("branch", required=True, doc="name of the branch")


def _create_branch(
    context: Context, table: str, branch: str, tag: str | None, ignore_if_exists: bool | None
) -> pa.Table:
    create_branch(context.table(table).store, branch, tag, if_not_exists=bool(ignore_if_exists))
    return success()


def _delete_branches(context: Context, table: str, branch: str) -> pa.Table:
    for name in branch.split(","):
        delete_branch(context.table(table).store, name.strip())
    return success()


def _rename_branch(context: Context, table: str, from_branch: str, to_branch: str) -> pa.Table:
    rename_branch(context.table(table).store, from_branch, to_branch)
    return success()


def _fast_forward(context: Context, table: str, branch: str) -> pa.Table:
    fast_forward(context.table(table).store, branch)
    return success()


def _merge_branch(context: Context, table: str, source_branch: str, target_branch: str | None) -> pa.Table:
    merge_branch(context.table(table).store, source_branch, target_branch or MAIN_BRANCH)
    return success()


def _arguments_by_position(values: Sequence[Any]) -> dict[str, Any]:
    """Positional arguments by name; a boolean after the branch is `ignore_if_exists`."""
    names = [a.name for a in CREATE_BRANCH.arguments]
    if len(values) == 3 and isinstance(values[2], bool):
        names.remove("tag")
    return dict(zip(names, values, strict=False))


CREATE_BRANCH: Procedure = Procedure(
    "create_branch",
    "A branch from a tag, or an empty one.",
    (
        table_argument(),
        _BRANCH,
        Argument("tag", doc="the tag to start from; an empty branch if absent"),
        Argument("ignore_if_exists", "bool", doc="do nothing if the branch exists", also=("ignoreIfExists",)),
    ),
    _create_branch,
    _arguments_by_position,
)
DELETE_BRANCH = Procedure(
    "delete_branch", "Delete branches; separate several with commas.", (table_argument(), _BRANCH), _delete_branches
)
RENAME_BRANCH = Procedure(
    "rename_branch",
    "Rename a branch.",
    (
        table_argument(),
        Argument("from_branch", required=True, doc="the current name"),
        Argument("to_branch", required=True, doc="the new name"),
    ),
    _rename_branch,
)
FAST_FORWARD = Procedure(
    "fast_forward", "Replace the main branch by a branch.", (table_argument(), _BRANCH), _fast_forward
)
MERGE_BRANCH = Procedure(
    "merge_branch",
    "Add the files that only one branch has to another; both branches stay. For append tables with 'branch-merge.enabled'.",
    (
        table_argument(),
        Argument("source_branch", required=True, doc="the branch with the new rows"),
        Argument("target_branch", doc="the branch that receives them; main if absent"),
    ),
    _merge_branch,
)
