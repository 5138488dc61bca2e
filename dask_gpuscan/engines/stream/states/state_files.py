"""Files of states: a JSON value and Arrow arrays, which are read with care, as a file may come from anyone.

A file is an Arrow IPC file with one record batch of one row: each column is an array, as a list, and the metadata of
the schema say where the arrays belong. Its digest is compared before anything is unpacked. Compressed buffers,
extension types, and arrays with more items than the file has bits are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from struct import unpack_from
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

_UNSIGNED = b"0" * 64
"""The placeholder for the digest in the content that is digested."""

_BEGIN, _END = b"ARROW1\0\0", b"ARROW1"
"""The first and the last bytes of Arrow IPC files."""

_EXTENSION = b"\x14\0\0\0ARROW:extension:name\0"
"""The metadata key of an extension type, which code of another package reads."""

DEPTH = 100
"""How deeply values may be nested."""


class NotRead(ValueError):
    """The reason why a file is not read; a message puts the file's name before it."""


_NO_STATE = "holds no state of a stream, or was cut off"


def packed(shape: Any, leaves: list[pa.Array]) -> bytes:
    """Return the content of a file that holds a JSON value and arrays."""
    columns = [pa.LargeListArray.from_arrays([0, len(leaf)], leaf) for leaf in leaves]
    named = [pa.field(f"array {i}", column.type) for i, column in enumerate(columns)]
    place = secrets.token_hex(32)  # occurs nowhere else in the file
    metadata = {"dask_gpuscan.state": json.dumps(shape), "dask_gpuscan.digest": place}
    schema = pa.schema(named, metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    content = sink.getvalue().to_pybytes()
    return signed(content, place.encode())


def signed(content: bytes, place: bytes) -> bytes:
    """Return the content of a file with `place` replaced by its digest."""
    return content.replace(place, _digest(content.replace(place, _UNSIGNED)))


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def unpacked(content: bytes) -> tuple[Any, list[pa.Array]]:
    """Return the JSON value and the arrays that a file holds.

    Raises
    ------
    NotRead
        If the file is not one of a state, was changed, or is compressed.
    Exception
        Of any type, for arrays and values that a state never has.
    """
    schema, messages = _opened(content)
    metadata = schema.metadata or {}
    digest, text = (metadata.get(f"dask_gpuscan.{name}".encode()) for name in ("digest", "state"))
    if digest is None or text is None:
        raise NotRead(_NO_STATE)
    if len(digest) != len(_UNSIGNED) or _digest(content.replace(digest, _UNSIGNED)) != digest:
        raise NotRead("was changed after it was written: its digest is another")
    kinds = [message.type for message in messages]
    if kinds.count("record batch") != 1 or not {*kinds} <= {"record batch", "dictionary"}:
        raise NotRead("holds other messages than one record batch and its dictionaries")
    if any(map(_is_compressed, messages)):
        raise NotRead("holds compressed arrays, which are not read")
    for field in schema:
        check_type(field.type)
    with pa.ipc.open_stream(_stream(content)) as reader:
        batch = reader.read_next_batch()
    batch.validate(full=True)
    for column in batch.columns:
        is_list = pa.types.is_large_list(column.type)
        if not is_list or len(column) != 1 or column.null_count:
            raise NotRead("holds other arrays than lists of one row")
        check_lengths(column, 8 * len(content))
    return _parsed(text), [column.values for column in batch.columns]


def _stream(content: bytes) -> pa.Buffer:
    """Return the stream of messages in a file, which follows its first bytes."""
    return pa.py_buffer(content).slice(len(_BEGIN))


def _opened(content: bytes) -> tuple[pa.Schema, list[pa.Message]]:
    """Return the schema of a file and the messages after it, without unpacking them."""
    if not (content.startswith(_BEGIN) and content.endswith(_END)):
        raise NotRead(_NO_STATE)
    try:
        messages = list(_messages(pa.ipc.MessageReader.open_stream(_stream(content))))
        if not messages or messages[0].type != "schema":  # pyarrow would read any message as one
            raise NotRead(_NO_STATE)
        if _EXTENSION in messages[0].metadata.to_pybytes():
            raise NotRead(_NO_STATE)
        return pa.ipc.read_schema(messages[0]), messages[1:]
    except (pa.ArrowException, OSError, EOFError) as error:
        raise NotRead(_NO_STATE) from error


def _messages(reader: pa.MessageReader) -> Iterator[pa.Message]:
    with suppress(StopIteration):
        while True:
            yield reader.read_next_message()


# --- what is compressed ------------------------------------------------------------------------------


def _is_compressed(message: pa.Message) -> bool:
    """Return whether the buffers of a batch may be compressed; pyarrow has no function for this."""
    data = message.metadata.to_pybytes()
    (root,) = unpack_from("<I", data)
    batch = _part(data, root, 2)
    if message.type == "dictionary" and batch is not None:
        batch = _part(data, batch, 1)
    of_old_versions = _part(data, root, 4)  # where old versions put the compression
    return batch is None or of_old_versions is not None or _part(data, batch, 3) is not None


def _part(data: bytes, table: int, number: int) -> int | None:
    """Return the offset of a field of a FlatBuffers table; None if the field is missing."""
    (back,) = unpack_from("<i", data, table)
    known, at = table - back, 4 + 2 * number
    (size,) = unpack_from("<H", data, known)
    (offset,) = unpack_from("<H", data, known + at) if at < size else (0,)
    if not offset:
        return None
    (further,) = unpack_from("<I", data, table + offset)
    return int(table + offset + further)


# --- arrays and values -------------------------------------------------------------------------------


def check_type(found: pa.DataType) -> None:
    """Raise a TypeError for a type that states never have: views, run-end encoded arrays and extension types."""
    types = pa.types
    inner = [found.field(i).type for i in range(found.num_fields)]
    if types.is_dictionary(found):
        inner = [found.value_type]
    is_plain = types.is_primitive(found) or types.is_decimal(found) or types.is_null(found)
    is_text = types.is_string(found) or types.is_large_string(found)
    is_bytes = types.is_binary(found) or types.is_large_binary(found)
    is_list = types.is_list(found) or types.is_large_list(found) or types.is_fixed_size_list(found)
    is_nested = is_list or types.is_struct(found) or types.is_map(found)
    is_other = types.is_fixed_size_binary(found) or types.is_dictionary(found)
    if isinstance(found, pa.BaseExtensionType) or not (
        is_plain or is_text or is_bytes or is_nested or is_other
    ):
        raise TypeError(f"it holds arrays of {found}")
    for one in inner:
        check_type(one)


def check_lengths(array: pa.Array, most: int) -> None:
    """Raise an error if an array, or one in it, has more items than `most`: some types take no space in a file."""
    if len(array) > most:
        raise NotRead("holds arrays of more items than the file has bits")
    found = array.type
    if pa.types.is_dictionary(found):
        check_lengths(array.dictionary, most)
    elif pa.types.is_struct(found):
        for number in range(found.num_fields):
            check_lengths(array.field(number), most)
    elif pa.types.is_map(found):
        check_lengths(array.keys, most)
        check_lengths(array.items, most)
    elif found.num_fields:
        check_lengths(array.values, most)


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def _parsed(text: bytes) -> Any:
    """Return a JSON value without floats; raises an error if it is nested too deeply or has too large an integer."""
    signs = np.frombuffer(_STRING.sub(b"", text), np.uint8)
    opened, closed = (np.isin(signs, [*pair]) for pair in (b"[{", b"]}"))
    if (np.cumsum(opened) - np.cumsum(closed)).max(initial=0) > DEPTH:
        raise NotRead(f"is nested deeper than {DEPTH} levels")
    return json.loads(text.decode(), parse_int=_int64, parse_float=_refuse, parse_constant=_refuse)


def _int64(text: str) -> int:
    """Return a signed or unsigned 64-bit integer."""
    if len(text) > 20 or not -(2**63) <= int(text) < 2**64:
        _refuse(text)
    return int(text)


def _refuse(text: str) -> NoReturn:
    raise NotRead(f"holds a number that no state has: {text[:30]}")
