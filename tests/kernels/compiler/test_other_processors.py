"""Kernels compile for processors that this machine does not have: none of them assumes instructions of x86."""

import os
import re
import subprocess
import sys

import llvmlite.binding as llvm
import pytest

TRIPLES = {
    "aarch64-unknown-linux-gnu": "neoverse-n1",
    "arm64-apple-macosx": "apple-m1",
    "x86_64-pc-windows-msvc": "x86-64",
}

COUNTED = re.compile(r"(tail )?call i8 @llvm\.x86\.atomic\.sub\.cc\.i64\([^)]*\)")
"""How LLVM counts down Numba's references to memory: it is chosen once the first module is made for this processor."""

PROGRAM = """
import sys
import numpy as np
import pandas as pd
from numba.core.codegen import JITCodeLibrary

modules, finalize = [], JITCodeLibrary._finalize_final_module

def keep(library):
    modules.append(str(library._final_module))
    finalize(library)

JITCodeLibrary._finalize_final_module = keep

import dask_gpuscan

rng = np.random.default_rng(0)
d = pd.DataFrame({"k": rng.integers(0, 5, 99), "i": rng.integers(0, 5, 99), "x": rng.normal(size=99)})
d["x"] = d["x"].mask(d["x"] > 1)
g = d.gpuscan
g.cumsum()
g.ffill()
g.filter("x > 0")
g.shift(1)
g.rank()
g.sort_values("x")
g.drop_duplicates(subset="k")
d["k"].gpuscan.rle()
d["x"].gpuscan.rolling(3).median()
d["x"].gpuscan.rolling(3).sum()
d["x"].gpuscan.ewm(alpha=0.5).mean()
g.groupby("k").cumsum()
g.groupby("k")["x"].median()
g.groupby("k")["x"].std()
open(sys.argv[1], "w").write("\\n;---\\n".join(modules))
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """LLVM's code of the kernels of some calls, made for no processor in particular."""
    folder = tmp_path_factory.mktemp("modules")
    environment = {
        **os.environ,
        "DASK_GPUSCAN_CACHE": str(folder / "kernels"),
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
    }
    written = folder / "modules.ll"
    command = [sys.executable, "-c", PROGRAM, str(written)]
    subprocess.run(command, check=True, env=environment, timeout=300)
    found = written.read_text().split("\n;---\n")
    assert len(found) > 20
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("triple", TRIPLES)
def test_kernels_compile_for_other_processors(modules, triple):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=TRIPLES[triple], opt=2)
    for code in modules:
        text = COUNTED.sub("or i8 0, 0", code)
        text = re.sub(r"declare .*@llvm\.x86\.atomic.*", "", text)
        assert "llvm.x86" not in text
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = triple, str(machine.target_data)
        assert len(machine.emit_object(module)) > 100
