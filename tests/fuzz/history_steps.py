"""What happens in a history of a folder and of the directory that follows it, one step after the other."""

from dataclasses import dataclass

from .seen_files import Rules
from .store_harm import Harm

ERROR, NO_HARM = Rules(), Harm()


@dataclass(frozen=True)
class Setting:
    """What stays the same through a history."""

    query: str
    style: str = "numbers"
    formats: tuple[str, ...] = ("parquet",)
    source: str = "local"
    target: str = "local"
    by: str = "folder"
    order: str | None = None
    ends: bool = False
    export: str | None = None
    tick: int = 1
    """Nanoseconds between two times that the file system knows."""
    share: int = 0
    """What `directory_sink.COMMIT_SHARE` is."""
    start: int = 8
    """Number of the first file."""
    schema: bool = False
    """Whether the columns are given, so that there may be no file."""
    joined: int = 1 << 16
    """Rows of short files that are read together."""


@dataclass(frozen=True)
class Change:
    """Something happens to a file of the source."""

    kind: str
    number: int = 0
    count: int = 3
    seed: int = 0


@dataclass(frozen=True)
class Go:
    """A run."""

    rules: Rules = ERROR
    files: str | None = None
    rows_per_file: int = 5
    checkpoints: int = 1 << 20
    export: str = "as ever"
    looks: bool = False
    reader: str = "pyarrow"
    harm: Harm = NO_HARM
    meanwhile: str = "read"


@dataclass(frozen=True)
class Damage:
    """Something happens to the directory."""

    kind: str
    number: int = 0
    how: str = "gone"
    redo: bool = False


Step = Change | Go | Damage
