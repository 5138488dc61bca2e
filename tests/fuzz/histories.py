"""Histories of a folder and of the directory that follows it: what a model knows, and how runs are compared with it."""

import errno
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from threading import Thread
from typing import Any

import dask_gpuscan
from dask_gpuscan import ChangedSourceError
from dask_gpuscan.engines.stream.sources.fragments import Progress

from .file_places import STYLES, Folder, Room, Table, Target, last_first, read_file, rows, schema_of
from .history_steps import ERROR, NO_HARM, Change, Go, Setting
from .plain_answers import QUERIES, Columns, Query
from .seen_files import File, Foretold, Rules, foretold, redone, rows_of
from .store_harm import Harm, Killed, Layer

FAILURES = (ValueError, OSError, KeyError)
"""What a source raises that cannot be opened."""


class History:
    """One history: the places, and what the model knows."""

    def __init__(self, setting: Setting, room: Room) -> None:
        self.setting = setting
        self.query: Query = next(one for one in QUERIES if one.name == setting.query)
        places = {"local": room.local, "memory": room.memory}
        self.folder = Folder(f"{places[setting.source]}/in", setting.style, setting.formats)
        self.is_table = setting.target == "table"
        self.target = Table(room.local) if self.is_table else Target(places[setting.target])
        self.exports = {"local": f"{room.local}/state.arrow", "memory": f"{room.memory}/state"}
        self.is_in_memory = self.is_table or "memory" in (setting.target, setting.export)
        """Whether a part of it is lost with the process."""
        self.known: list[File] = []
        self.ended = self.is_begun = False
        self.is_loose = False
        """Whether a run was killed, and none went on since."""
        self.shown: list[Columns] = []
        """What readers may see, since runs were killed."""
        self.states: list[bytes] = []
        """What was written to places of the user's, in order."""
        self.is_exported: bool | None = False
        """Whether the last of them is that of the directory; None if that is not known, as a run was killed."""
        self.manifest: bytes | None = None
        """As the last run has left it."""
        self.copies = 0
        self.met = set[str]()
        """What has happened, for the count of outcomes."""

    # --- the source -------------------------------------------------------------------------------

    def there(self) -> list[File]:
        """Return the files that are there, in order."""
        setting = self.setting
        return self.folder.files(setting.order, setting.by == "list", setting.tick)

    def change(self, step: Change) -> None:
        """Change a file, if there is one that can be changed so."""
        folder, numbers = self.folder, list(self.folder.numbers)
        if step.kind in ("add", "add late") or not numbers:
            back = self.setting.order == "last first"
            ends = [*numbers, self.setting.start]
            number = (min(ends) - 1 if back else max(ends) + 1) if numbers else ends[0]
            if step.kind == "add late":
                number = 1 + step.number % 12
            if number > 0 and number not in numbers:
                folder.write(number, rows(step.count, step.seed))
            return
        number = numbers[step.number % len(numbers)]
        have, fault = folder.numbers[number]
        if step.kind == "append":
            number = max(numbers) if step.number % 2 else number
            have, fault = folder.numbers[number]
            folder.write(number, [*have, *rows(1 + step.count, step.seed)])
        elif step.kind == "other values" and not fault:
            folder.write(number, rows(len(have), step.seed))
        elif step.kind == "other values, same times" and not (fault or folder.in_memory):
            folder.write(number, rows(len(have), step.seed), keep_time=True)
        elif step.kind == "other rows":
            folder.write(number, rows(step.count, step.seed))
        elif step.kind == "same bytes":
            folder.put(number, folder.content(number))
        elif step.kind == "touch":
            folder.put(number, folder.content(number), (10**9 + step.seed) * 10**9)
        elif step.kind == "remove":
            folder.remove(number)
        elif step.kind == "rename":
            to = 1 + step.seed % 24
            if to not in numbers:
                folder.rename(number, to)
        elif step.kind == "cut off":
            folder.truncate(number)
        elif step.kind == "other columns" and not self.setting.schema:
            folder.write_other_columns(number)

    def stream(self, rules: Rules, query: Query | None = None) -> Any:
        """Return the stream of a run."""
        setting = self.setting
        source: Any = self.folder.place
        if setting.by == "list" and self.folder.numbers:
            source = [self.folder.path(number) for number in self.folder.numbers]
        elif setting.by == "pattern":
            source = f"{self.folder.place}/{'*/' * STYLES[setting.style].count('/')}*.*"
        order = last_first if setting.order == "last first" else setting.order
        options = rules.given()
        if setting.schema:
            options["schema"] = schema_of(setting.style)
        found = dask_gpuscan.stream(source, ends=setting.ends, order=order, **options)
        return (query or self.query).stream(found)

    # --- runs -------------------------------------------------------------------------------------

    def export(self, step: Go) -> str | None:
        """Return where else the state of a run is written."""
        if self.is_table:
            return None
        kind = self.setting.export if step.export == "as ever" else step.export
        return self.exports.get(kind or "")

    def run(self, step: Go, query: Query | None = None, **options: Any) -> Any:
        """Run, and return what that returns."""
        found = self.stream(step.rules, query)
        if self.is_table:
            return found.to_delta(self.target.place, rows_per_commit=step.rows_per_file, **options)
        return found.to_parquet(
            self.target.place,
            state=self.export(step) or True,
            files=step.files,
            rows_per_file=step.rows_per_file,
            checkpoints=step.checkpoints,
            **options,
        )

    def answer(self, known: Sequence[File], ended: bool) -> Columns:
        """Return the answer that files have."""
        return self.query.answer(rows_of(known), ended)

    def look(self, step: Go) -> Progress | Exception:
        """Return what a dry run says, which changes nothing."""
        before = self.target.files()
        try:
            found: Progress = self.run(step, dry_run=True)
        except Exception as error:
            return error
        finally:
            assert self.target.files() == before, "a dry run changed the directory"
        return found

    def go(self, step: Go) -> None:
        """Run, and compare with what the model says."""
        there = self.there()
        if not self.setting.schema and (not there or there[0].fault):
            is_named = there and there[0].fault != "other columns"
            self._refused(step, FAILURES, there[0].name if is_named else "")
            return
        told = foretold(self.known, there, step.rules)
        after, rest, does = told.after, told.rest, told.does
        if self.state_is_old(step):
            self._refused(step, (ValueError,), "is not the state" if self.is_begun else "")
            return
        looked: Progress | Exception | None = None
        if step.looks or does == "redo" or step.harm.kind != "none":
            looked = self.look(step)
            self._check_lists(told, looked)
        finals = [after]
        if does == "redo":
            finals, rest = self.redone(step, there, told, looked)
            if not finals:
                self._refused(step, (ChangedSourceError,), "")
                return
        elif does == "refuse":
            if looked is not None:
                assert isinstance(looked, Progress)
                assert looked.error, "a dry run does not say that the run is refused"
            differing = [*told.changed, *told.removed, *told.late, *told.seen]
            self._refused(step, (ChangedSourceError,), "", differing, looked)
            return
        elif looked is not None and not any(f.fault for f in rest):
            is_refused = isinstance(looked, Exception) or looked.error
            if not (self.ended and rows_of(rest)) and not self.is_loose:
                assert not is_refused, f"a dry run says that the run is refused: {looked}"
        if any(file.fault for file in rest):
            self._fails(step, there, told, finals, rest)
        elif does == "go on" and self.ended and rows_of(rest):
            if rest[0].rows:
                self._refused(step, (ValueError,), "rows that ended")
                return
            assert "rows that ended" in str(self.error_of(step))
            self._settle(step, there, told, finals)  # files without rows are known behind it
        else:
            self._goes_on(step, there, told, finals)

    def state_is_old(self, step: Go) -> bool:
        """Return whether a state at the place of the user's is another one than the directory's."""
        path = self.export(step)
        content = None if path is None else read_file(path)
        if content is None or (self.is_exported and content == self.states[-1]):
            return False
        is_known = self.is_exported is not None and not self.is_loose
        if not is_known or (self.is_exported and content in self.states[-2:]):
            looked = self.look(step)  # a run that was killed may have written it, or the one before
            return isinstance(looked, Exception) and "is not the state" in str(looked)
        return True

    def _check_lists(self, told: Foretold, looked: Progress | Exception) -> None:
        if isinstance(looked, Progress):
            assert told.agrees(looked), f"a dry run says {looked}, and the model {told.lists()}"

    def redone(
        self, step: Go, there: Sequence[File], told: Foretold, looked: Any
    ) -> tuple[list[list[File]], list[File]]:
        """Return the files whose rows may be answered by a run that goes back; none if it must be refused."""
        assert isinstance(looked, Progress), f"a dry run raises {looked!r}"
        names = {file.name for file in there}
        if looked.error and step.rules.removed == "keep" and told.archived:
            return [], []
        assert not looked.error, f"a dry run refuses to go back: {looked.error}"
        finals, rest = [], list[File]()
        for kept in range(1 if self.is_table else told.first + 1):
            again = [file.name for file in self.known[kept:] if file.name in names]
            gone = [file.name for file in self.known[kept:] if file.name in told.archived]
            if sorted(again) == sorted(looked.again) and not (
                gone and step.rules.removed == "keep"
            ):
                finals.append(redone(self.known, there, step.rules, kept))
                rest = foretold(self.known[:kept], there, step.rules).rest
        assert finals, f"a run goes back to read {looked.again} again, behind {told.first} files"
        return finals, rest

    def _refused(
        self,
        step: Go,
        kinds: tuple[type[Exception], ...],
        says: str,
        paths: Sequence[str] = (),
        looked: Any = None,
    ) -> None:
        """Run, and check that it is refused with no change."""
        before = self.target.files()
        error = self.error_of(step)
        assert error is not None, f"a run was not refused by {kinds[0].__name__} {says}"
        if not isinstance(error, kinds):
            raise error
        assert says in str(error), f"the message does not say {says!r}: {error}"
        if paths:
            path = getattr(error, "path", "")
            assert path in paths, f"the error is of the file {path!r}, and others differ: {paths}"
            assert path in str(error), f"the message does not name {path!r}: {error}"
        if isinstance(looked, Progress):
            assert looked.error == str(error), f"dry run: {looked.error}; run: {error}"
        if not self.is_loose:
            assert self.target.files() == before, "a run that was refused changed the directory"
        self.met.add("refused")

    def error_of(self, step: Go, query: Query | None = None) -> Exception | None:
        try:
            self.run(step, query)
        except Exception as error:
            return error
        return None

    def _fails(
        self,
        step: Go,
        there: Sequence[File],
        told: Foretold,
        finals: list[list[File]],
        rest: Sequence[File],
    ) -> None:
        """Run, and check that it fails at a file that cannot be read."""
        bad = [file.name for file in rest if file.fault]
        error = self.error_of(step)
        if self._was_in_midst(told, error):
            return
        if self.ended and "rows that ended" in str(error):
            return
        assert error is not None, f"a run has read {bad}"
        assert isinstance(error, ValueError | OSError), f"{type(error).__name__}: {error}"
        named = [name for name in bad if name in str(error)]
        assert named, f"the message names none of {bad}: {error}"
        self.met.add("unreadable")
        self._settle(step, there, told, finals)

    def _goes_on(
        self,
        step: Go,
        there: Sequence[File],
        told: Foretold,
        finals: list[list[File]],
    ) -> None:
        """Run, perhaps with harm, and check what is there behind it."""
        if step.harm.kind in ("SIGKILL", "power cut") and self.is_in_memory:
            step = replace(step, harm=replace(step.harm, kind="killed"))
        layer = Layer(step.harm, lambda: self._meanwhile(step, finals))
        error: BaseException | None = None
        before = self.target.files()
        if step.harm.kind == "none":
            error = self.error_of(step)
        elif step.harm.kind == "SIGKILL":
            error = self._in_a_process(step, layer)
        else:
            try:
                with layer.below():
                    self.run(step)
            except Killed as killed:
                error = killed
            except Exception as failed:
                error = failed
        if error is None:
            assert not layer.is_dead, "a run went on though it was killed"
            if layer.is_done:
                self.met.add(step.harm.kind)
            self.went_on(step, finals)
            return
        if not layer.is_done:
            if self._was_in_midst(told, error):
                return
            raise error
        self.met.add(step.harm.kind)
        if step.harm.kind == "meanwhile" and step.meanwhile in ("add", "other rows"):
            if not (self.ended and "rows that ended" in str(error)):
                assert isinstance(error, ChangedSourceError), f"{type(error).__name__}: {error}"
            told = foretold(self.known, self.there(), step.rules)
            self._settle(step, self.there(), told, finals)
            return
        if step.harm.kind == "meanwhile" and "another writer called" in str(error):
            self.went_on(step, finals)
            return
        if isinstance(error, Killed):
            self._settle(step, there, told, finals)
            return
        if step.harm.kind not in ("full", "full once", "read-only"):
            raise error
        if not isinstance(error, OSError) or error.errno not in (errno.ENOSPC, errno.EROFS):
            raise error
        if step.harm.kind == "read-only" and not self.is_table:
            assert self.is_loose or self.target.files() == before
        else:
            self._settle(step, there, told, finals)

    def _was_in_midst(self, told: Foretold, error: BaseException | None) -> bool:
        """Return whether a run was refused as a killed one has read a part of a file that is another one now."""
        last = self.known[-1].name if self.known else ""
        is_other = last in told.changed or last in told.removed
        says = ("after a part of it was read", "would have to be computed again")
        return self.is_loose and is_other and any(one in str(error) for one in says)

    def _in_a_process(self, step: Go, layer: Layer) -> BaseException | None:
        """Run in a process that is killed, and return how it ended."""
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            with layer.below():
                error = self.error_of(step)
            if error is not None:
                os.write(writes, f"{type(error).__name__}: {error}".encode()[:4000])
            os._exit(int(error is not None))
        os.close(writes)
        status = _waited(child)
        with open(reads, "rb") as pipe:
            said = pipe.read().decode()
        if os.WIFSIGNALED(status):
            layer.is_done = True
            return Killed()
        return RuntimeError(said) if status else None

    def _meanwhile(self, step: Go, finals: list[list[File]]) -> None:
        """Look at the directory, or run, in the midst of a run."""
        self.met.add(f"meanwhile {step.meanwhile}")
        if step.meanwhile == "read":
            self._check_prefix(self.target.read(step.reader), finals)
            return
        if step.meanwhile in ("add", "other rows"):
            self.change(Change(step.meanwhile, step.rows_per_file, 4, step.rows_per_file))
            told = foretold(self.known, self.there(), step.rules)
            if told.does == "go on":
                now = {file.name: file for file in told.after}
                listed = [now.get(file.name, file) for file in finals[0]]
                finals += [told.after, listed]  # its new rows, in the new order or as it was listed
            elif told.does == "redo":
                kept = range(told.first + 1)
                finals += [redone(self.known, self.there(), step.rules, count) for count in kept]
            return
        found: list[Exception | None] = []

        def second() -> None:
            found.append(self.error_of(replace(step, harm=Harm())))

        if step.meanwhile == "run in a thread":
            thread = Thread(target=second)
            thread.start()
            thread.join()
        else:
            second()
        known = ("another run writes to", "another writer called")
        if found[0] is not None and not any(one in str(found[0]) for one in known):
            raise found[0]

    def _check_prefix(self, found: Columns, finals: Sequence[Sequence[File]]) -> None:
        """Check that a reader sees the first rows of what was there, or of what will be."""
        allowed = [self.answer(self.known, self.ended)]
        allowed += [self.answer(final, self.setting.ends) for final in finals] + self.shown
        assert any(_is_prefix(found, one) for one in allowed), f"a reader sees {found} of {allowed}"

    def went_on(self, step: Go, finals: Sequence[Sequence[File]]) -> None:
        """Check what is there behind a run, and know it from now on."""
        ended = self.setting.ends and self.query.has_end
        found = self.target.read(step.reader)
        matching = [f for f in finals if _same(found, self.answer(f, self.setting.ends))]
        wanted = self.answer(finals[0], self.setting.ends)
        assert matching, f"{step.reader} reads {found}, and the answer is {wanted}"
        for path, content in self.target.of_others.items():
            assert self.target.get(path) == content, f"a file of others was changed: {path}"
        self._check_no_rest()
        if any(one != matching[0] for one in matching):  # of rows that are the same
            looked, there = self.look(Go(export=step.export)), self.there()
            assert isinstance(looked, Progress), f"a dry run raises {looked!r}"
            matching = [f for f in matching if foretold(f, there, ERROR).agrees(looked)]
            assert matching, f"a dry run says {looked}"
        self.known, self.ended, self.is_begun = list(matching[0]), ended, True
        self.is_loose, self.shown = False, []
        path = self.export(step)
        if path is not None:
            content = read_file(path)
            assert content is not None, "there is no state at the place of the user's"
            assert dask_gpuscan.load_state(path).rows == len(rows_of(self.known))
        self._know_states(path)

    def _know_states(self, path: str | None) -> None:
        """Know what a run has written to a place of the user's, and whether the directory knows that."""
        manifest = self.target.files().get(f"{self.target.name}/_gpuscan/manifest.parquet")
        content = None if path is None else read_file(path)
        if content is not None:
            if self.states[-1:] != [content]:
                self.states.append(content)
            self.is_exported = True
        elif manifest != self.manifest:
            self.is_exported = False if path is None else None
        self.manifest = manifest

    def _check_no_rest(self) -> None:
        """Check that a run has left nothing that only runs need."""
        for path in () if self.is_table else self.target.files():
            place, name = path.rpartition("/")[::2]
            wanted = name.startswith("state-") or name == "manifest.parquet"
            assert not place.startswith("."), f"a run has left {path}"
            assert wanted or not place.endswith("/_gpuscan"), f"a run has left {path}"

    def _settle(
        self, step: Go, there: Sequence[File], told: Foretold, finals: list[list[File]]
    ) -> None:
        """Check what is there behind a run that did not end, and know from now on how far it got."""
        self._check_prefix(self.target.read(step.reader), finals)
        self.is_loose = True
        self.shown.append(self.answer(self.known, self.ended))
        self._know_states(self.export(step))
        first = (list(self.known), self.ended)
        ended = self.setting.ends and self.query.has_end
        steps = []
        if told.does == "go on" or self.is_table or step.harm.kind == "meanwhile":
            steps = [(final[:n], False) for final in finals for n in range(len(final) + 1)]
            if told.does == "go on" and self.ended:
                steps = [(files, True) for files, _ in steps if len(files) > len(self.known)]
        candidates = [first, *steps, *((final, ended) for final in finals)]
        looked = self.look(replace(step, rules=ERROR, harm=NO_HARM))
        assert isinstance(looked, Progress), f"a dry run raises {looked!r}"
        matching = [one for one in candidates if foretold(one[0], there, ERROR).agrees(looked)]
        assert matching, f"a dry run says {looked} behind a run that was killed"
        if any(one != matching[0] for one in matching[1:]):
            self._recover(step, there, matching)
        else:
            self.known, self.ended = matching[0]

    def _recover(self, step: Go, there: Sequence[File], matching: Sequence[Any]) -> None:
        """Run again, undisturbed, where it is not known how far the run before got."""
        step = replace(step, harm=Harm())
        if any(file.fault for file in there):
            step = replace(step, rules=Rules())
            for number in [n for n, (_, fault) in self.folder.numbers.items() if fault]:
                self.folder.remove(number)
            there = self.there()
        if any(foretold(known, there, step.rules).does == "refuse" for known, _ in matching):
            step = replace(step, rules=Rules("redo"))  # something has changed in the midst of a run
        looked = self.look(step)
        finals = []
        for known, ended in matching:
            self.known, self.ended = known, ended
            told = foretold(known, there, step.rules)
            if told.does == "go on":
                finals.append(told.after)
            elif told.does == "redo" and isinstance(looked, Progress) and looked.again:
                finals += self.redone(step, there, told, looked)[0]
        error = self.error_of(step)
        if error is not None:
            raise error
        self.went_on(step, finals)


def _waited(child: int) -> int:
    """Return the status that a process ends with; one that hangs is killed, and is an error."""
    end = time.monotonic() + 20.0
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise TimeoutError("a run in a process of its own hangs")


def _is_prefix(found: Columns, whole: Columns) -> bool:
    count = len(next(iter(found.values()), []))
    return not count or found == {name: column[:count] for name, column in whole.items()}


def _same(found: Columns, whole: Columns) -> bool:
    count, wanted = (len(next(iter(one.values()), [])) for one in (found, whole))
    return count == wanted and (not count or found == whole)
