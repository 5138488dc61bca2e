"""Damage to a directory that goes on: runs refuse it, or make it good, and leave alone what is not theirs."""

from collections.abc import Sequence
from dataclasses import replace

from dask_gpuscan.engines.stream.sources.fragments import Progress

from .file_places import read_file, write_file
from .histories import History
from .history_steps import Damage, Go
from .plain_answers import QUERIES
from .seen_files import File, Rules, foretold, redone, rows_of


class DamagedHistory(History):
    """A history in which the directory is damaged, too."""

    def damage(self, step: Damage) -> None:
        """Do harm to the directory, run, and make it good."""
        there = self.there()
        can_run = there and not any(file.fault for file in (*there, *self.known))
        if not self.is_begun or self.is_loose or not can_run:
            return
        told = foretold(self.known, there, Rules())
        if told.does != "go on" or (self.ended and rows_of(told.rest)):
            return
        if self.is_table and step.kind not in ("another query", "copy"):
            return
        if self.state_is_old(Go()):
            return
        getattr(self, f"_{step.kind.replace(' ', '_')}")(step, there)
        self.met.add(f"damaged {step.kind}" if step.kind != "copy" else "copied")

    def _another_query(self, step: Damage, there: Sequence[File]) -> None:
        before = self.target.files()
        others = [one for one in QUERIES if one.name != self.query.name]
        error = self.error_of(Go(), others[step.number % len(others)])
        assert isinstance(error, ValueError), f"another query was not refused: {error!r}"
        assert "state" in str(error), str(error)
        assert self.target.files() == before, "a run of another query changed the directory"

    def _part(self, step: Damage, there: Sequence[File]) -> None:
        """Damage a part: a run is refused; one that goes back writes a part again that is gone, and no other one."""
        names = [name for name in self.target.parts() if name not in self.target.of_others]
        if not names:
            return
        name = names[step.number % len(names)]
        content = self.target.get(name)
        self.target.put(name, _harmed(content, step))
        redo = Go(rules=Rules(changed="redo"), rows_per_file=1 + step.number % 7)
        self._refused_for(Go(), name)
        if step.how != "gone":
            self._refused_for(redo, name)
            if step.redo:
                self.target.put(name, None)  # moved away
        if not step.redo:
            self.target.put(name, content)
            return
        told = foretold(self.known, there, redo.rules)
        finals, _ = self.redone(redo, there, told, self.look(redo))
        error = self.error_of(redo)
        if error is not None:
            raise error
        self.went_on(redo, finals)

    def _refused_for(self, step: Go, name: str) -> None:
        """Run, and check that it is refused for a file of the directory."""
        before, looked = self.target.files(), self.look(step)
        assert isinstance(looked, Progress)
        error = self.error_of(step)
        assert isinstance(error, ValueError), f"a damaged part was not refused: {error!r}"
        assert looked.error == str(error), f"dry run: {looked.error}; run: {error}"
        assert name in str(error), f"the message does not name {name}: {error}"
        assert self.target.files() == before, "a run that was refused changed the directory"

    def _of_ours(self, step: Damage, there: Sequence[File], prefix: str) -> None:
        """Damage a file of ours: a run is refused, or has all that it needs."""
        own = f"{self.target.name}/_gpuscan/"
        names = [
            name.removeprefix(f"{self.target.name}/")
            for name in sorted(self.target.files())
            if name.startswith(f"{own}{prefix}")
        ]
        name = names[step.number % len(names)]
        content = self.target.get(name)
        self.target.put(name, _harmed(content, step))
        before = self.target.files()
        going = Go(rules=Rules(changed="redo") if step.redo else Rules())
        error = self.error_of(going)
        if error is None:
            lengths = range(len(self.known) + 1)  # it may have gone back to any state that it has
            finals = [redone(self.known, there, going.rules, kept) for kept in lengths]
            self.went_on(going, finals[::-1] if step.redo else finals[-1:])
            if f"{self.target.name}/{name}" in self.target.files() and prefix != "manifest":
                self.target.put(name, content)  # a state that was not needed
            return
        if not isinstance(error, ValueError):
            raise error
        assert self.target.place.removeprefix("memory:/") in str(error), str(error)
        assert self.target.files() == before, "a run that was refused changed the directory"
        self.target.put(name, content)

    def _state(self, step: Damage, there: Sequence[File]) -> None:
        self._of_ours(step, there, "state-")

    def _manifest(self, step: Damage, there: Sequence[File]) -> None:
        if step.how == "gone" and not self.target.parts() and self.export(Go()) is None:
            step = replace(step, how="cut off")
        self._of_ours(step, there, "manifest")

    def _exported_state(self, step: Damage, there: Sequence[File]) -> None:
        path = self.export(Go())
        content = None if path is None else read_file(path)
        if path is None or content is None:
            return
        old = [one for one in self.states[:-2] if one not in self.states[-2:]]
        found = _harmed(content, step)
        if step.redo and old:
            found = old[step.number % len(old)]
        write_file(path, found)
        before = self.target.files()
        error = self.error_of(Go())
        if found is None:
            assert error is None, repr(error)
            self.went_on(Go(), [foretold(self.known, there, Rules()).after])
            return
        assert isinstance(error, ValueError), f"another state was not refused: {error!r}"
        assert path in str(error), f"the message does not name {path}: {error}"
        assert self.target.files() == before, "a run that was refused changed the directory"
        assert read_file(path) == found, "a run that was refused changed a state"
        write_file(path, content)

    def _file_of_others(self, step: Damage, there: Sequence[File]) -> None:
        name = ("notes.txt", "mine.parquet", f"part-{step.number % 6:08}.parquet")[step.number % 3]
        if name not in self.target.parts():
            content = b"not ours" if name.endswith("txt") else _a_part(self)
            self.target.put(name, content)
            self.target.of_others[name] = content

    def _copy(self, step: Damage, there: Sequence[File]) -> None:
        self.copies += 1
        self.target = self.target.copy(f"out{self.copies}")


def _a_part(history: History) -> bytes:
    names = history.target.parts()
    return history.target.get(names[0]) if names else b"not ours"


def _harmed(content: bytes, step: Damage) -> bytes | None:
    """Return the content of a file behind harm; None if it is gone."""
    if step.how == "gone":
        return None
    if step.how == "cut off":
        return content[: len(content) * (step.number % 4) // 4]
    at = step.number * 7919 % len(content)
    return content[:at] + bytes([content[at] ^ (1 << step.number % 8)]) + content[at + 1 :]
