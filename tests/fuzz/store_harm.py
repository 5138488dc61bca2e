"""A layer below directories that go on, in which a process dies, a disk is full, or somebody comes in between.

Every change to a directory is a call of a store. The layer counts these, and at one of them does harm: what a killed
process would still have done, such as removing its lock, it does not let happen. A power cut also takes back names
that no `sync_folder` has made lasting, from the last one back, and the content of files without a `sync`.
"""

import errno
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dask_gpuscan.engines.stream.sinks import directory_sink
from dask_gpuscan.engines.stream.sinks.delta_sink import DeltaTarget
from dask_gpuscan.engines.stream.sinks.stores import LocalStore, MemoryStore

CHANGES = (
    *("new", "put", "sync", "sync_folder", "move", "remove", "make_folder", "remove_folder"),
    "locked",
)
WRITES = {"new", "put", "write", "sync", "sync_folder", "move", "make_folder", "export"}
"""What a full disk lets fail."""


class Killed(BaseException):
    """The process of a run is no more."""


@dataclass(frozen=True)
class Harm:
    """What is done at which call."""

    kind: str = "none"
    """"killed", "SIGKILL", "power cut", "full once", "full", "read-only", "meanwhile"."""
    at: int = 0
    """Number of the call."""
    call: str = "any"
    """Which calls are counted."""
    where: str = "before"
    """"before" the call, in the "half" of it, or "after" it."""
    lost: int = 0
    """Of a power cut: how many names are taken back, at most."""
    torn: int = 0
    """Of a power cut: what files hold that were not synced: 0 for nothing, 1 for a half, 2 for all."""


class Layer:
    """Harm to one run; `with layer.below():` is around it."""

    def __init__(self, harm: Harm, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.harm, self.meanwhile = harm, meanwhile
        self.calls, self.is_dead, self.is_done, self.is_paused = 0, False, False, False
        self._lock = threading.RLock()
        self.disk = _Disk()

    @contextmanager
    def below(self) -> Iterator[None]:
        """Put the layer below all stores; the disk is what it is after a cut behind the block."""
        before = []
        for kind in (LocalStore, MemoryStore):
            for name in CHANGES:
                method = vars(kind)[name]
                before.append((kind, name, method))
                setattr(kind, name, self._wrapped(name, method))
        before.append((directory_sink, "write_whole", directory_sink.write_whole))
        directory_sink.write_whole = partial(self._export, directory_sink.write_whole)
        for method, name in (("_put", "put"), ("_write", "write"), ("_clean", "remove")):
            before.append((DeltaTarget, method, vars(DeltaTarget)[method]))
            setattr(DeltaTarget, method, self._of_table(name, vars(DeltaTarget)[method]))
        try:
            yield
        finally:
            for owner, name, method in before:
                setattr(owner, name, method)
            if self.harm.kind == "power cut" and self.is_dead:
                self.disk.cut(self.harm)
            self.disk.close()

    def _wrapped(self, name: str, method: Any) -> Any:
        def call(store: Any, *given: Any) -> Any:
            if self.is_paused:
                return method(store, *given)
            is_local = not isinstance(store, MemoryStore)
            do = partial(method, store, *given)
            half = None
            if name == "put":
                half = partial(method, store, given[0], given[1][: len(given[1]) // 2])
            if is_local and self.harm.kind == "power cut":
                do = partial(self.disk.change, name, given, do)
                half = half and partial(self.disk.change, name, given, half)
            found = self.call(name, do, half)
            if name != "new":
                return found
            return _Written(self, open(found, "wb", buffering=0) if is_local else found)

        return call

    def _of_table(self, name: str, method: Any) -> Any:
        def call(target: Any, *given: Any) -> Any:
            if self.is_paused:
                return method(target, *given)
            half = None
            if name == "put":
                half = partial(method, target, given[0], given[1][: len(given[1]) // 2])
            return self.call(name, partial(method, target, *given), half)

        return call

    def _export(self, write: Any, path: str, content: bytes, private: bool = False) -> Any:
        if self.is_paused:
            return write(path, content, private=private)

        def half() -> None:
            if "://" not in path:
                Path(path).with_name(".half-of-a-state.part").write_bytes(content[::2])

        return self.call("export", partial(write, path, content, private=private), half)

    def call(self, name: str, do: Callable[[], Any], half: Callable[[], Any] | None) -> Any:
        """Do what a store was asked for, or harm."""
        with self._lock:
            if self.is_dead:
                raise Killed
            if self.harm.kind == "read-only":
                return self._refused(name, do)
            self.calls += self.harm.call in ("any", name)
            is_now = not self.is_done and self.calls >= self.harm.at > 0
            if self.harm.kind == "full" and self.is_done and name in WRITES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if not is_now or self.harm.kind == "none":
                return do()
            if self.harm.kind in ("full", "full once"):
                if name not in WRITES:
                    return do()
                self.is_done = True
                if half is not None and self.harm.where != "before":
                    half()
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.is_done = True
            if self.harm.kind == "meanwhile":
                return self._pause(do)
            if self.harm.where == "after" or (self.harm.where == "half" and half is None):
                do()
            elif self.harm.where == "half" and half is not None:
                half()
            if self.harm.kind == "SIGKILL":
                os.kill(os.getpid(), signal.SIGKILL)
            self.is_dead = True
            raise Killed

    def _refused(self, name: str, do: Callable[[], Any]) -> Any:
        if name == "remove_folder":
            return None
        if name == "make_folder" and do.args[0].has_folder(do.args[1]):  # type: ignore[attr-defined]
            return None
        self.is_done = True
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def _pause(self, do: Callable[[], Any]) -> Any:
        self.is_paused = True
        try:
            if self.harm.where == "before":
                self.meanwhile()
            found = do()
            if self.harm.where != "before":
                self.meanwhile()
            return found
        finally:
            self.is_paused = False


class _Written:
    """A file that pyarrow writes to; each of its writes is a call."""

    def __init__(self, layer: Layer, file: Any) -> None:
        self._layer, self._file, self.closed = layer, file, False

    def write(self, data: Any) -> int:
        data = bytes(data)
        half = partial(self._file.write, data[: len(data) // 2])
        self._layer.call("write", partial(self._file.write, data), half)
        return len(data)

    def tell(self) -> int:
        return int(self._file.tell())

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self._layer.call("close", self._file.close, None)
        self.closed = True


class _Disk:
    """What a disk has not made lasting."""

    def __init__(self) -> None:
        self.names: list[tuple[str, Callable[[], None]]] = []
        """Folders, and what takes a change of a name in them back; oldest first."""
        self.unsynced = set[str]()
        self._aside: str | None = None
        self._count = 0

    def change(self, name: str, given: tuple[Any, ...], do: Callable[[], Any]) -> Any:
        """Do a change to names or content, and note it."""
        path, to = given[0], given[-1]
        if name in ("new", "put"):
            self.unsynced.add(path)
            self._note(path, partial(_gone, path))
        elif name == "sync":
            self.unsynced.discard(path)
        elif name == "sync_folder":
            self.names = [one for one in self.names if one[0] != path]
        elif name == "move":
            kept = self._kept(to)
            self._note(to, partial(_moved_back, path, to, kept))
            self.unsynced.discard(to)
            if path in self.unsynced:
                self.unsynced.remove(path)
                self.unsynced.add(to)
        elif name == "remove" and os.path.exists(path):
            self._note(path, partial(os.replace, self._kept(path), path))
        elif name == "make_folder":
            for one in (os.path.dirname(path), path):
                if not os.path.isdir(one):
                    self._note(one, partial(shutil.rmtree, one, ignore_errors=True))
        elif name == "remove_folder" and os.path.isdir(path) and not os.listdir(path):
            self._note(path, partial(os.makedirs, path, exist_ok=True))
        return do()

    def _note(self, path: str, undo: Callable[[], None]) -> None:
        self.names.append((os.path.dirname(path), undo))

    def _kept(self, path: str) -> str:
        """Return another name of a file that is to go; empty if there is none."""
        if not os.path.exists(path):
            return ""
        if self._aside is None:
            self._aside = tempfile.mkdtemp(dir=_above(path))
        self._count += 1
        kept = f"{self._aside}/{self._count}"
        os.link(path, kept)
        return kept

    def cut(self, harm: Harm) -> None:
        """Take back what was not made lasting."""
        for path in self.unsynced:
            if harm.torn < 2 and os.path.isfile(path):
                os.truncate(path, os.stat(path).st_size // 2 * harm.torn)
        for _, undo in reversed(self.names[len(self.names) - min(harm.lost, len(self.names)) :]):
            with suppress(FileNotFoundError, NotADirectoryError):
                undo()

    def close(self) -> None:
        if self._aside is not None:
            shutil.rmtree(self._aside, ignore_errors=True)


def _above(path: str) -> str:
    """Return a folder above all that a run writes to."""
    while not os.path.exists(os.path.join(path, ".history")):
        path = os.path.dirname(path)
    return path


def _gone(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _moved_back(path: str, to: str, kept: str) -> None:
    os.replace(to, path)
    if kept:
        os.replace(kept, to)
