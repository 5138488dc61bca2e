"""Paths and URLs: which file system each is of, and what is said of those that cannot be opened."""

from pathlib import Path

import pytest
from pyarrow import fs

from dask_gpuscan.engines.stream.filesystems import filesystem_of, is_url, shown_url


def test_paths_are_local(tmp_path: Path) -> None:
    for path in (tmp_path / "a b", str(tmp_path / "a b"), (tmp_path / "a b").as_uri()):
        filesystem, place = filesystem_of(path)
        assert isinstance(filesystem, fs.LocalFileSystem)
        with filesystem.open_output_stream(place) as file:
            file.write(str(path).encode())
        assert (tmp_path / "a b").read_text() == str(path)
    assert not is_url("C:\\totals")
    assert not is_url(Path("memory://totals"))


def test_urls_of_fsspec() -> None:
    filesystem, place = filesystem_of("memory://of-filesystems/totals")
    with filesystem.open_output_stream(place) as file:
        file.write(b"one")
    again, _ = filesystem_of("memory://of-filesystems/totals")
    with again.open_input_file(place) as file:
        assert file.read() == b"one"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nothing://a/b", "nothing://a/b is of no file system .* knows: Protocol not known"),
        ("file:///a b", "file:///a b is not understood: "),
        ("sftp://me:secret@host/b?key=secret", "sftp://host/b needs a package that is not installed"),
    ],
)  # fmt: skip
def test_urls_that_cannot_be_opened(url: str, message: str) -> None:
    if url.startswith("sftp"):
        try:
            import paramiko  # noqa: F401
        except ImportError:
            pass
        else:
            pytest.skip("paramiko is installed")
    with pytest.raises(ValueError, match=message):
        filesystem_of(url)


def test_messages_tell_no_secrets() -> None:
    url = "s3://key:secret@bucket/totals?endpoint_override=localhost"
    assert shown_url(url) == "s3://bucket/totals"
    with pytest.raises(ValueError, match="not understood") as caught:
        filesystem_of("s3://key:secret@bucket/a b")
    assert "secret" not in str(caught.value)
