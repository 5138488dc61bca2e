"""Files of states that were made to do harm: each is a ValueError that names it, or a state whose parts fit."""

import json
import random
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan.engines.stream.states.state_files import packed, signed, unpacked

FRAME = pd.DataFrame(
    {
        "k": list("abacba"),
        "c": [1, 1, 2, 2, 2, 3],
        "t": pd.date_range("2026-01-01", periods=6, freq="20min"),
        "z": pd.date_range("2026-01-01", periods=6, freq="20min", tz="Europe/Berlin"),
        "x": [1.5, np.nan, 2.0, 4.0, 0.5, 3.0],
        "i": pd.array([1, None, 3, 4, None, 6], "Int64"),
        "o": pd.Series(["p", None, "q", "p", "q", "p"], dtype=object),
        "d": pd.Series([1, 2, 3, 4, 5, 6]).astype(pd.ArrowDtype(pa.decimal128(30, 2))),
        "g": pd.Categorical(list("uvuvuv")),
        "p": pd.period_range("2026-01-01", periods=6, freq="D"),
    }
)
KINDS = {
    "totals": lambda d: d[["x", "i"]].gpuscan.cumsum(),
    "texts": lambda d: d[["o"]].gpuscan.cummax(),
    "fills": lambda d: d.gpuscan.ffill(),
    "shifts": lambda d: d.gpuscan.shift(2),
    "groups": lambda d: d.gpuscan.groupby(["k", "g"])[["x", "c"]].cumsum(),
    "fills of groups": lambda d: d.gpuscan.groupby("k").ffill(limit=2),
    "windows of time": lambda d: d.gpuscan.groupby("k").rolling("30min", on="t")["x"].sum(),
    "sessions": lambda d: d.gpuscan.sessionize("z", by="k", gap="30min"),
    "adjacent": lambda d: d.gpuscan.groupby("c", clustered=True).agg(a=("x", "std"), b=("k", "last")),
    "checked": lambda d: d.gpuscan.groupby("c", clustered="check")["x"].cumsum(),
    "runs": lambda d: d.gpuscan.rle("c"),
    "buckets": lambda d: d[["x", "t"]].gpuscan.resample("30min", on="t").mean(),
    "edges": lambda d: d[["x", "t"]].gpuscan.resample("30min", on="t").ffill(),
    "rows ahead": lambda d: d[["x", "o", "p"]].gpuscan.shift(-2),
}  # fmt: skip


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    """The file of a state of each kind."""
    found = {}
    for name, method in KINDS.items():
        out = method(dask_gpuscan.stream([FRAME[:4], FRAME[4:]], ends=False))
        out.compute()
        found[name] = packed(*out.state._written())
    return found


def load(path: Path, content: bytes) -> Any:
    """Return a state, or None where a file is refused as it should be."""
    path.write_bytes(content)
    try:
        return dask_gpuscan.load_state(path)
    except ValueError as error:
        said = str(error)
    assert str(path) in said
    return None


def digest_of(content: bytes) -> bytes:
    (digest, *_) = re.findall(rb"[0-9a-f]{64}", content[content.index(b"dask_gpuscan.digest") :])
    return digest


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return each container in a value with each of its keys."""
    if not isinstance(value, (dict, list)):
        return []
    keys = list(value) if isinstance(value, dict) else range(len(value))
    return [(value, key) for key in keys] + [p for key in keys for p in places(value[key])]


STRANGE = (
    None, True, 0, -1, 7, 2**62, 2**63, 2**64 - 1, "", "x", "int64", "|O", "<f8", "period[D]", [], {}, [[]],
    {"leaf": 0}, {"leaf": 1}, {"leaf": -1}, {"leaf": True}, {"tuple": []}, {"list": [1, "a"]}, {"dtype": "<i8"},
    {"dtype": "(9999,9999)f8"}, {"dtype": "V999999999"}, {"class": "Span", "fields": {}}, {"float": "nan"},
    {"class": "Open", "fields": {"rows": 1, "border": None, "start": 0}}, {"bytes": "eA=="}, {"decimal": "9e9999"},
    {"number": {"leaf": 0}}, {"frame": {"tuple": []}}, {"key": []}, {"library": "pandas"}, {"library": "os"},
    {"times": ["datetime64[ns, dateutil//etc/passwd]", {"leaf": 0}]}, {"numpy": ["|O", {"leaf": 0}]},
    {"numpy": ["<M8[ns]", {"leaf": 0}]}, {"arrow": [{"leaf": 0}]}, {"masked": ["Int64", {"leaf": 0}]},
)  # fmt: skip
ARRAYS = (
    pa.array([], pa.int64()), pa.array([1]), pa.array([1.5] * 9), pa.array([None, 2]), pa.array(["a", "b"]),
    pa.array([True, None]), pa.nulls(4), pa.array([[1], [2]]), pa.array([{"a": 1}]), pa.array([b"x"]),
    pa.array(["a", "b", "a"]).dictionary_encode(), pa.array([2**63 - 1] * 3, pa.timestamp("ns")),
    pa.array(["a", None], pa.large_string()), pa.array([0] * 4, pa.uint8()),
)  # fmt: skip


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return the file of a state some of whose values, or arrays, are others."""
    shape, leaves = unpacked(content)
    shape = deepcopy(shape)
    for _ in range(chance.randint(1, 3)):
        if leaves and chance.random() < 0.3:
            at = chance.randrange(len(leaves))
            own = leaves[at]
            leaves[at] = chance.choice([*ARRAYS, own[:-1], pa.concat_arrays([own, own])])
            continue
        container, key = chance.choice(places(shape))
        what = chance.random()
        if what < 0.15:
            del container[key]
        elif what < 0.4:
            container[key] = deepcopy(chance.choice(places(shape))[0])
        elif what < 0.6 and isinstance(container[key], (int, str)):
            container[key] = container[key] * 2
        else:
            container[key] = deepcopy(chance.choice(STRANGE))
    return packed(shape, leaves)


def check_parts(state: Any) -> None:
    """Do with a state what is done with any."""
    assert state.rows >= 0
    assert isinstance(repr(state), str)
    assert state.nbytes >= 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", KINDS)
def test_values_that_were_changed(name: str, contents: dict[str, bytes], tmp_path: Path) -> None:
    """Their digest is right: only what they say can tell."""
    chance, content = random.Random(name), contents[name]
    check_parts(load(tmp_path / "state", content))
    for _ in range(60):
        state = load(tmp_path / "state", mutated(content, chance))
        if state is not None:
            check_parts(state)
            state.save(tmp_path / "again")


@pytest.mark.parametrize("name", ["texts", "groups", "fills of groups", "edges"])
def test_bytes_that_were_changed(name: str, contents: dict[str, bytes], tmp_path: Path) -> None:
    chance, content = random.Random(name), contents[name]
    digest = digest_of(content)
    for _ in range(150):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(content))
            changed[at] = chance.choice(
                [0, 1, 0x7F, 0x80, 0xFF, changed[at] ^ 1 << chance.randrange(8)]
            )
        state = load(tmp_path / "state", signed(bytes(changed), digest))
        if state is not None:
            check_parts(state)


# --- files that were made to do harm -----------------------------------------------------------------

DIGEST = "f" * 64


def made(columns: list[pa.Array], text: str = "{}", **options: Any) -> bytes:
    """Return the content of a file with a right digest."""
    fields = [pa.field(f"array {i}", column.type) for i, column in enumerate(columns)]
    schema = pa.schema(fields, {"dask_gpuscan.state": text, "dask_gpuscan.digest": DIGEST})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    return signed(sink.getvalue().to_pybytes(), DIGEST.encode())


def listed(array: pa.Array) -> pa.Array:
    return pa.LargeListArray.from_arrays([0, len(array)], array)


def bad_offsets() -> bytes:
    offsets = pa.py_buffer(np.array([0, 10**9, 5], np.int32))
    texts = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"abcde"))
    lists = pa.py_buffer(np.array([0, 2], np.int64))
    return made(
        [
            pa.LargeListArray.from_buffers(
                pa.large_list(texts.type), 1, [None, lists], children=[texts]
            )
        ]
    )


def nothings(count: int) -> bytes:
    offsets = pa.py_buffer(np.array([0, count], np.int64))
    nulls = pa.Array.from_buffers(pa.null(), count, [None])
    return made(
        [
            pa.LargeListArray.from_buffers(
                pa.large_list(pa.null()), 1, [None, offsets], children=[nulls]
            )
        ]
    )


ZEROS = pa.array(np.zeros(1 << 20))
HARMFUL = {
    "compressed": (lambda: made([listed(ZEROS)], compression="zstd"), "holds compressed arrays"),
    "compressed dictionary": (
        lambda: made([listed(pa.DictionaryArray.from_arrays(pa.array([0]), ZEROS))], compression="lz4"),
        "holds compressed arrays",
    ),
    "offsets": (bad_offsets, "offset for slot 1 out of bounds|Length spanned"),
    "nulls without memory": (lambda: nothings(2**31 - 1), "more items than the file has bits"),
    "deep": (lambda: made([], "[" * 200_000 + "]" * 200_000), "nested deeper than 100 levels"),
    "deep behind a text": (lambda: made([], '["\\"]", ' + '{"a":' * 5000), "nested deeper"),
    "large integer": (lambda: made([], '{"version": 1' + "0" * 10**6 + "}"), "holds a number that no state has"),
    "infinite": (lambda: made([], '{"version": Infinity}'), "holds a number that no state has"),
    "other text": (lambda: made([], '["'.encode("utf-16").decode("latin-1")), "not understood"),
    "no object": (lambda: made([], "[]"), "not understood"),
    "views": (lambda: made([listed(pa.array(["a"], pa.string_view()))]), "holds arrays of"),
    "no lists": (lambda: made([pa.array([1])]), "lists of one row"),
    "a zone of a file": (
        lambda: made(
            [listed(pa.array([0]))],
            json.dumps({"version": 4, "schema": {"times": ["datetime64[ns, dateutil//etc/passwd]", {"leaf": 0}]}}),
        ),
        "expected a dtype of times",
    ),
    "no digest": (lambda: made([]).replace(DIGEST.encode(), b"0" * 64), "holds no state|digest"),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_files(name: str, tmp_path: Path) -> None:
    make, message = HARMFUL[name]
    (tmp_path / "state").write_bytes(make())
    with pytest.raises(ValueError, match=message) as caught:
        dask_gpuscan.load_state(tmp_path / "state")
    assert str(tmp_path / "state") in str(caught.value)


def test_types_that_are_defined_elsewhere_are_not_made(tmp_path: Path) -> None:
    made_of = []

    class Elsewhere(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(pa.int64(), "tests.elsewhere")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> "Elsewhere":
            made_of.append(storage)
            return cls()

    array = pa.ExtensionArray.from_storage(Elsewhere(), pa.array([1]))
    content = made([listed(array)])
    pa.register_extension_type(Elsewhere())
    try:
        assert load(tmp_path / "state", content) is None
    finally:
        pa.unregister_extension_type("tests.elsewhere")
    assert not made_of


def test_an_array_is_named_once(tmp_path: Path, contents: dict[str, bytes]) -> None:
    """Each name would be a copy: few bytes would fill the memory."""
    shape, leaves = unpacked(contents["shifts"])
    shape["operations"][0]["by"] = {"tuple": [{"numpy": ["<f8", {"leaf": 0}]}] * 2}
    assert load(tmp_path / "state", packed(shape, leaves)) is None


def test_files_that_do_not_say_what_computed_them(
    tmp_path: Path, contents: dict[str, bytes]
) -> None:
    """Such as those of earlier versions: they list nothing, and streams go on from them."""
    shape, leaves = unpacked(contents["totals"])
    for one in shape["operations"]:
        for name in ("carry", "meta", "depends"):
            one.pop(name, None)
    state = load(tmp_path / "state", packed(shape, leaves))
    assert state.to_pandas() == {}
    with pytest.raises(ValueError, match="cannot be joined with a later one"):
        state.combine(state)
    rows = dask_gpuscan.stream([FRAME], state=state)
    assert KINDS["totals"](rows).compute()["x"].iloc[-1] == 22
