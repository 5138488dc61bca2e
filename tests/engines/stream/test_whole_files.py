"""Files that are there whole or not at all, and that no link of others leads elsewhere."""

import os
from pathlib import Path

import pytest

from dask_gpuscan.engines.stream.whole_files import NewFile, read_whole, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_its_name_once_it_is_whole(tmp_path: Path) -> None:
    new = NewFile(tmp_path / "one")
    new.file.write(b"all")
    assert "one" not in names(tmp_path)
    new.close()
    assert names(tmp_path) == ["one"]
    assert read_whole(tmp_path / "one") == b"all"
    again = NewFile(tmp_path / "one")
    again.file.write(b"less")
    again.abandon()
    assert names(tmp_path) == ["one"]
    assert read_whole(tmp_path / "one") == b"all"


def test_names_that_are_long(tmp_path: Path) -> None:
    write_whole(tmp_path / ("é" * 120), b"all")
    assert names(tmp_path) == ["é" * 120]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_private_files_are_of_their_user(tmp_path: Path) -> None:
    write_whole(tmp_path / "private", b"", private=True)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
    (tmp_path / "usual").touch()
    write_whole(tmp_path / "written", b"")
    modes = {(tmp_path / name).stat().st_mode for name in ("usual", "written")}
    assert len(modes) == 1


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_links_that_wait_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    for name in ("one", "one.part"):
        (tmp_path / name).symlink_to(tmp_path / "precious")
    write_whole(tmp_path / "one", b"new")
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert (tmp_path / "one").read_bytes() == b"new"
    assert not (tmp_path / "one").is_symlink()
    monkeypatch.setattr("secrets.token_hex", lambda count: "known")
    (tmp_path / ".one.known.part").symlink_to(tmp_path / "precious")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "one", b"newer")
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert (tmp_path / ".one.known.part").is_symlink()


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_whole(tmp_path / "folder", b"all")
    with pytest.raises(TypeError):
        write_whole(tmp_path / "text", "no bytes")  # type: ignore[arg-type]
    assert names(tmp_path) == ["folder"]


def test_urls(tmp_path: Path) -> None:
    for url in ("memory://of-whole-files/one.gz", (tmp_path / "one").as_uri()):
        write_whole(url, b"all")
        assert read_whole(url) == b"all"
        with pytest.raises(FileNotFoundError):
            read_whole(url.replace("one", "two"))
    assert names(tmp_path) == ["one"]
