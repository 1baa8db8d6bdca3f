"""Changes of a table's schema, tags and branches: what `Table.alter`, `Table.tags` and `Table.branches` return."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from paimon_nb.base.caller_warning import warn_caller
from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types.arrow_builders import from_arrow_type
from paimon_nb.options import option_warnings
from paimon_nb.table.tables.handle import TableHandle

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    import pyarrow as pa

    from paimon_nb.table.tables.handle import SchemaStep

H = TypeVar("H", bound=TableHandle)
Retention = str | int | dt.timedelta
"""How long a tag is kept: text such as '1 d', milliseconds, or a timedelta."""


@dataclass(slots=True)
class SchemaChange(Generic[H]):
    """Changes of a table that are applied together or not at all. A context manager: leaving it applies them.

    Examples:
        >>> with t.alter() as change:
        ...     change.add_column("note", "STRING")
        ...     change.drop_column("price")
        SchemaChange(default.orders: add_column note)
        SchemaChange(default.orders: add_column note, drop_column price)
        >>> t.refresh().schema.names
        ('id', 'state', 'note')
    """

    table: H
    """The table."""
    steps: tuple[SchemaStep, ...] = ()
    """(kind of change, its arguments), in order."""

    def add_column(
        self,
        name: str,
        type: str | pa.DataType,
        *,
        comment: str | None = None,
        default: str | None = None,
        first: bool = False,
        after: str | None = None,
    ) -> SchemaChange[H]:
        """Add a column.

        Args:
            name: its name; `outer.inner` is a field of a ROW column.
            type: text such as `'DECIMAL(10, 2)'`, or an Arrow type.
            comment: a comment.
            default: the default of new rows, as text.
            first: make it the first column.
            after: put it after this column.

        Returns:
            This object.
        """
        return self._with(
            "add_column",
            path=_path(name),
            type=_type_text(type),
            comment=comment,
            default=default,
            first=first,
            after=after,
        )

    def drop_column(self, name: str) -> SchemaChange[H]:
        """Drop a column.

        Args:
            name: its name.

        Returns:
            This object.
        """
        return self._with("drop_column", path=_path(name))

    def rename_column(self, name: str, new_name: str) -> SchemaChange[H]:
        """Rename a column.

        Args:
            name: its name; `outer.inner` is a field of a ROW column.
            new_name: its new name.

        Returns:
            This object.
        """
        return self._with("rename_column", path=_path(name), new_name=new_name)

    def alter_column(
        self,
        name: str,
        *,
        type: str | pa.DataType | None = None,
        comment: str | None = None,
        nullable: bool | None = None,
        first: bool = False,
        after: str | None = None,
    ) -> SchemaChange[H]:
        """Change a column. Aspects that are None stay as they are.

        Args:
            name: its name; `outer.inner` is a field of a ROW column.
            type: the new type, as text or as an Arrow type.
            comment: the new comment; empty removes it.
            nullable: whether it allows NULL.
            first: make it the first column.
            after: put it after this column.

        Returns:
            This object.
        """
        text = None if type is None else _type_text(type)
        return self._with(
            "alter_column", path=_path(name), type=text, comment=comment, nullable=nullable, first=first, after=after
        )

    def set_options(self, options: Mapping[str, Any]) -> SchemaChange[H]:
        """Store table options. Warns of an option that is unknown or has no effect.

        Args:
            options: values by option; strings, numbers or booleans.

        Returns:
            This object.
        """
        texts = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in options.items()}
        for warning in option_warnings(texts):
            warn_caller(warning)
        return self._with("set_options", options=texts)

    def reset_options(self, *names: str) -> SchemaChange[H]:
        """Remove stored table options.

        Args:
            names: their names.

        Returns:
            This object.
        """
        return self._with("reset_options", keys=names)

    def set_comment(self, comment: str | None) -> SchemaChange[H]:
        """Set the table's comment.

        Args:
            comment: the comment; None removes it.

        Returns:
            This object.
        """
        return self._with("set_comment", comment=comment)

    def execute(self) -> H:
        """Apply all changes: write the table's next schema.

        Returns:
            A handle with the new schema.

        Raises:
            SchemaChangeError: a change is not possible. Nothing is changed.
            ColumnNotFound: a column does not exist.
            FixedOption: an option that cannot change.
            UnsupportedOperation: the handle was opened without a catalog.
        """
        change = self.table.change_schema
        if change is None:
            raise UnsupportedOperation(
                f"{self.table.name} was opened without a catalog, which stores schemas",
                hint="paimon_nb.connect(...).table(name) opens it through one",
            )
        change(self.steps)
        return self.table.refresh()

    def __enter__(self) -> SchemaChange[H]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.steps:
            self.execute()

    def __repr__(self) -> str:
        steps = (f"{kind} {'.'.join(arguments.get('path', ()))}".strip() for kind, arguments in self.steps)
        return f"SchemaChange({self.table.name}: {', '.join(steps) or 'nothing'})"

    def _with(self, kind: str, **arguments: Any) -> SchemaChange[H]:
        self.steps = (*self.steps, (kind, arguments))
        return self


@dataclass(frozen=True, slots=True)
class TableTags:
    """The tags of a table. Calling it returns them as an Arrow table."""

    table: TableHandle
    """The table."""

    def __call__(self) -> pa.Table:
        """All tags.

        Returns:
            An Arrow table: tag_name (string), snapshot_id, schema_id (int64), commit_time (timestamp[ms]), record_count
            (int64), create_time (timestamp[ms]), time_retained (string, ISO duration).
        """
        return self.table.system("tags")

    def create(self, name: str, snapshot: int | None = None, *, retained: Retention | None = None) -> None:
        """Create a tag for a snapshot, which then does not expire.

        Args:
            name: name of the tag.
            snapshot: id of the snapshot; None is the latest.
            retained: how long: text such as `'1 d'`, a timedelta, or milliseconds; None is as the table's options say.

        Raises:
            AlreadyExists: there is a tag of this name.
            SnapshotNotFound: the snapshot does not exist.
            BadOptionValue: `retained` is not a time span.
        """
        from paimon_nb.table.write.maintenance import create_tag

        create_tag(self.table.store, name, snapshot, retained_ms=duration_ms(retained))

    def replace(
        self, name: str, snapshot: int | None = None, *, retained: Retention | None = None, create: bool = False
    ) -> None:
        """Move a tag to another snapshot.

        Args:
            name: name of the tag.
            snapshot: id of the snapshot; None is the latest.
            retained: as in `create`.
            create: create the tag if it does not exist.

        Raises:
            TagNotFound: the tag does not exist, and not `create`.
            SnapshotNotFound: the snapshot does not exist.
            BadOptionValue: `retained` is not a time span.
        """
        from paimon_nb.table.write.maintenance import replace_tag

        if create and name not in self.table.store.tags.names():
            self.create(name, snapshot, retained=retained)
        else:
            replace_tag(self.table.store, name, snapshot, retained_ms=duration_ms(retained))

    def delete(self, name: str, *, if_exists: bool = False) -> None:
        """Delete a tag, and the files that only its snapshot needs.

        Args:
            name: name of the tag.
            if_exists: do nothing if the tag does not exist.

        Raises:
            TagNotFound: the tag does not exist, and not `if_exists`.
        """
        from paimon_nb.table.write.maintenance import delete_tag

        delete_tag(self.table.store, name, if_exists=if_exists)

    def rename(self, name: str, new_name: str) -> None:
        """Rename a tag.

        Args:
            name: name of the tag.
            new_name: its new name.

        Raises:
            TagNotFound: the tag does not exist.
            AlreadyExists: there is a tag of the new name.
        """
        from paimon_nb.table.write.maintenance import rename_tag

        rename_tag(self.table.store, name, new_name)

    def __repr__(self) -> str:
        return f"<Tags of {self.table.name}: {', '.join(self.table.store.tags.names()) or 'none'}>"


@dataclass(frozen=True, slots=True)
class TableBranches:
    """The branches of a table. Calling it returns them as an Arrow table."""

    table: TableHandle
    """The table."""

    def __call__(self) -> pa.Table:
        """All branches but the main one.

        Returns:
            An Arrow table: branch_name (string), create_time (timestamp[ms]).
        """
        return self.table.system("branches")

    def create(self, name: str, *, tag: str | None = None, if_not_exists: bool = False) -> bool:
        """Create a branch: empty, or with the snapshot of a tag.

        Args:
            name: name of the branch.
            tag: where it begins; None is an empty branch.
            if_not_exists: do nothing if it exists.

        Returns:
            True if it was created now.

        Raises:
            AlreadyExists: there is a branch of this name, and not `if_not_exists`.
            TagNotFound: the tag does not exist.
            InvalidName: the name is not allowed.
        """
        from paimon_nb.table.write.maintenance import create_branch

        return create_branch(self.table.store, name, tag, if_not_exists=if_not_exists)

    def delete(self, name: str) -> None:
        """Delete a branch, and the files that only it uses.

        Args:
            name: name of the branch.

        Raises:
            BranchNotFound: the branch does not exist.
            UnsupportedOperation: reads of the table fall back on it.
        """
        from paimon_nb.table.write.maintenance import delete_branch

        delete_branch(self.table.store, name)

    def rename(self, name: str, new_name: str) -> None:
        """Rename a branch.

        Args:
            name: name of the branch.
            new_name: its new name.

        Raises:
            BranchNotFound: the branch does not exist.
            AlreadyExists: there is a branch of the new name.
        """
        from paimon_nb.table.write.maintenance import rename_branch

        rename_branch(self.table.store, name, new_name)

    def fast_forward(self, name: str) -> None:
        """Replace the history of main, from the branch's first snapshot on, by that of the branch.

        Args:
            name: name of the branch.

        Raises:
            BranchNotFound: the branch does not exist.
            UnsupportedOperation: the branch is empty, or main could not be read any more. Nothing is changed.
        """
        from paimon_nb.table.write.maintenance import fast_forward

        fast_forward(self.table.store, name)

    def __repr__(self) -> str:
        return f"<Branches of {self.table.name}: {', '.join(self.table.store.branches.names()) or 'none'}>"


def duration_ms(value: Retention | None) -> int | None:
    """Raises: BadOptionValue: not a duration."""
    from paimon_nb.options import parse_duration_ms

    if isinstance(value, dt.timedelta):
        return value // dt.timedelta(milliseconds=1)
    try:
        return parse_duration_ms(value) if isinstance(value, str) else value
    except ValueError as error:
        raise BadOptionValue(f"{value!r} is not a duration: {error}", hint="write '1 d', or milliseconds") from None


def _path(name: str) -> tuple[str, ...]:
    return tuple(name.split("."))


def _type_text(type_: str | pa.DataType) -> str:
    return type_ if isinstance(type_, str) else str(from_arrow_type(type_))
