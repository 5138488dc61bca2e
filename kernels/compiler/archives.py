"""Archives of compiled code: entries are named after kernels, and the comment identifies their sources."""

from io import BytesIO
from pathlib import Path
from zipfile import ZIP_LZMA, ZipFile

from ...forks import import_late


def write(path: Path, entries: dict[str, bytes], made_of: str) -> None:
    """Write an archive."""
    with ZipFile(path, "w", ZIP_LZMA) as archive:
        archive.comment = made_of.encode()
        for name, content in sorted(entries.items()):
            archive.writestr(name, content)


def opened(path: Path) -> ZipFile:
    """Return an archive, read into memory: forked processes would share a position in its file."""
    import_late("lzma")  # not every build of Python has this module
    return ZipFile(BytesIO(path.read_bytes()))


def entry(archive: ZipFile | None, name: str) -> bytes | None:
    """Return an entry of an archive, if there is one."""
    return None if archive is None or name not in archive.NameToInfo else archive.read(name)
