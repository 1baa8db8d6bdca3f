"""The error tree of the product.

Every error describes the problem in one sentence, carries the facts as attributes, and has the next step in `hint`.

    PaimonError
     +- ConfigError           options and environment
     |   +- UnknownOption  BadOptionValue  FixedOption  EnvironmentError_  PluginError
     +- NameError_            names and lookups
     |   +- InvalidName  UnknownName
     |   +- CatalogNotFound  DatabaseNotFound  TableNotFound  ColumnNotFound
     |   +- SnapshotNotFound  TagNotFound  BranchNotFound  ConsumerNotFound  ProcedureNotFound
     |   +- AlreadyExists
     +- FormatError           bytes on disk
     |   +- CorruptFile  MissingFile  NewerFormat  UnsupportedFormat  BadMessage
     +- ReadError             a read without an answer
     |   +- TimeTravelError (BucketsChanged)  SnapshotExpired  ReaderConsumed  OutOfMemory
     +- WriteError            rows that cannot be stored
     |   +- SchemaMismatch  NullNotAllowed  UnsupportedOperation  SchemaChangeError  QueryChanged  TargetChanged
     +- CommitError           publishing
     |   +- CommitConflict (CommitRemoved)  CommitOverwritten  CommitGaveUp  TableReplaced
     +- StoreError            the file system
     |   +- OutsideWarehouse  NotWritable  TableIsMoving  SourceUnavailable  SourceLost
     +- AccessDenied          a user without the privilege, or with a wrong password
     +- SqlError              the user's own text
     |   +- SqlSyntaxError  SqlAnalysisError
     +- EngineError           Spark
         +- Cancelled
"""

from __future__ import annotations

from typing import Any

from paimon_nb.base.redact import mask_known


class PaimonError(Exception):
    """Base of every error that leaves the product.

    Args:
        message: one sentence, without a trailing stack or Java text.
        hint: the next step, in the imperative.
        facts: what is known, also readable as attributes (`error.path`).
    """

    def __init__(self, message: str, *, hint: str | None = None, **facts: Any) -> None:
        message = mask_known(message)  # also where nothing displays the error: `str(error)`, a log
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is None else mask_known(hint)
        self.facts = facts

    def __getattr__(self, name: str) -> Any:
        # Only called when normal lookup fails, so facts never hide real attributes.
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(name)

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message

    @property
    def one_line(self) -> str:
        """`message; hint`, for one-line output."""
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # An error that another process raised, such as a pool's worker, keeps its facts.
        return error_of_kind, (type(self), self.message, self.hint, self.facts)


def error_of_kind(kind: type[PaimonError], message: str, hint: str | None, facts: dict[str, Any]) -> PaimonError:
    """An error from its parts, as pickle and Spark's messages have them. A subclass's own constructor is not called."""
    error = kind.__new__(kind)
    PaimonError.__init__(error, message, hint=hint, **facts)
    return error


class ConfigError(PaimonError):
    """An option or the environment is wrong."""


class UnknownOption(ConfigError):
    """No option has this key."""


class BadOptionValue(ConfigError):
    """The value does not parse, or is outside the option's range."""


class FixedOption(ConfigError):
    """The option may not change after the table was created or has data."""


class EnvironmentError_(ConfigError):
    """Java, PySpark or Arrow are missing or incompatible."""


class PluginError(ConfigError):
    """What another package registers cannot be used: it does not load, or is not what its group needs."""


class NameError_(PaimonError):
    """A name that is invalid, unknown or taken."""


class InvalidName(NameError_):
    """The text cannot be a database, table, branch or tag name."""


class UnknownName(NameError_):
    """A registry has no such entry."""


class CatalogNotFound(NameError_):
    """No catalog has this name."""


class DatabaseNotFound(NameError_):
    """The catalog has no such database."""


class TableNotFound(NameError_):
    """The database has no such table or system table."""


class ColumnNotFound(NameError_):
    """The table has no such column."""


class SnapshotNotFound(NameError_):
    """The table has no such snapshot."""


class TagNotFound(NameError_):
    """The table has no such tag."""


class BranchNotFound(NameError_):
    """The table has no such branch."""


class ConsumerNotFound(NameError_):
    """The table has no such consumer."""


class ProcedureNotFound(NameError_):
    """No procedure has this name."""


class AlreadyExists(NameError_):
    """A database, table, tag or branch of this name already exists."""


class FormatError(PaimonError):
    """Bytes on disk do not match the format."""


class CorruptFile(FormatError):
    """A file exists but cannot be decoded.

    Facts: `path` (str), `why` (str).
    """

    def __init__(self, path: str, why: str, *, hint: str | None = None, **facts: Any) -> None:
        super().__init__(
            f"{path} is broken: {why}",
            hint=hint or "read an earlier snapshot or tag, or restore the file from a backup",
            path=path,
            why=why,
            **facts,
        )


class MissingFile(FormatError):
    """Metadata references a missing file. Facts: `path`."""

    def __init__(self, path: str, *, hint: str | None = None, **facts: Any) -> None:
        super().__init__(
            f"{path} is missing",
            hint=hint or "the snapshot may have expired; read the latest snapshot",
            path=path,
            **facts,
        )


class NewerFormat(FormatError):
    """A file of a version that this release does not know. Facts: `path`, `number`, `newest`."""

    def __init__(self, path: str, number: int, newest: int, what: str = "file") -> None:
        super().__init__(
            f"{path}: {what} version {number} is newer than {newest}, the newest known here",
            hint="upgrade paimon_nb, or write the table with an older Paimon",
            path=path,
            number=number,
            newest=newest,
        )


class UnsupportedFormat(FormatError):
    """A known feature of the format that is not implemented. Facts: `feature`."""


class ForeignFile(UnsupportedFormat):
    """A file in the directory of a format table has another format than the table. Facts: `path`, `feature`."""


class BadMessage(FormatError):
    """A message of a stream does not match its format."""


class BadSourceValue(FormatError):
    """A value of a source does not fit its column. Facts: `table`, `column`, `key`, `value`, `position`, `record`."""


class ReadError(PaimonError):
    """The read has no answer in this table."""


class TimeTravelError(ReadError):
    """The requested version is outside the table's history."""


class BucketsChanged(TimeTravelError):
    """Two states cannot be compared file by file: between them the table was rescaled. Facts: `start`, `end`, snapshot ids."""


class SnapshotExpired(ReadError):
    """The requested snapshot has expired."""


class ReaderConsumed(ReadError):
    """The rows of a reader were read already; a reader can be read once."""


class OutOfMemory(ReadError):
    """The process has not enough memory; no file is broken for that reason. Facts: `path`, if a file was read."""

    def __init__(self, message: str, *, hint: str | None = None, **facts: Any) -> None:
        super().__init__(
            message,
            hint=hint
            or "read fewer columns or rows at a time, or give the process more memory; if the memory would be"
            " enough for the table, the file may be damaged",
            **facts,
        )


class NumberOverflow(ReadError):
    """A merged number does not fit the type of its column: `sum` or `product` of a merge engine."""


class WriteError(PaimonError):
    """The rows or the statement cannot be applied; nothing was changed."""


class SchemaMismatch(WriteError):
    """Columns or types of the rows do not match the table."""


class NullNotAllowed(WriteError):
    """NULL in a key or in a NOT NULL column."""


class UnsupportedOperation(WriteError):
    """The table's kind or merge engine does not allow this; the hint names the option that would."""


class SchemaChangeError(WriteError):
    """An ALTER that the format forbids."""


class QueryChanged(WriteError):
    """An incremental table was written by another query."""


class TargetChanged(WriteError):
    """An incremental table has rows that no refresh wrote."""


class CommitError(PaimonError):
    """Publishing a snapshot failed."""


class CommitConflict(CommitError):
    """Another commit contradicts this commit. Facts: `snapshot`, `user`, `where`."""


class CommitRemoved(CommitConflict):
    """A rollback or fast-forward removed the commit while it was published. Facts: `snapshot`, `path`."""


class CommitOverwritten(CommitError):
    """A snapshot that this session published was replaced by another writer."""


class CommitGaveUp(CommitError):
    """Other writers won every retry."""


class TableReplaced(CommitError):
    """The table was dropped and created again since it was opened."""


class StoreError(PaimonError):
    """The file system refused the operation."""


class OutsideWarehouse(StoreError):
    """A path that leaves the warehouse. Facts: `path`, `root`."""


class NotWritable(StoreError):
    """The location cannot be written."""


class TableIsMoving(StoreError):
    """Another process renames or drops the table, which takes several steps. Facts: `path`, `target`."""


class SourceUnavailable(StoreError):
    """A broker or a database does not answer, or denies access."""


class SourceLost(StoreError):
    """A stream's next rows no longer exist: the broker or the database dropped them."""


class AccessDenied(PaimonError):
    """A user without access to a warehouse with privileges. Facts: `user`, `privilege`, `identifier`."""


class SqlError(PaimonError):
    """A SQL statement is wrong.

    Facts: `sql` (str, the user's whole text), `start`, `stop` (int or None, character offsets into `sql`, stop
    exclusive).
    """


class SqlSyntaxError(SqlError):
    """The text is not a valid statement."""


class SqlAnalysisError(SqlError):
    """The statement is well-formed but invalid here."""


class EngineError(PaimonError):
    """Spark failed."""


class Cancelled(EngineError):
    """The user interrupted the work; message and hint describe what was committed before."""
