"""Every family of kernels is run under the sanitizers, and what a tool finds fails."""

import os

import numpy as np
import pytest

from sanitizers.__main__ import main, sanitizer, summary
from sanitizers.families import FAMILIES


def test_every_family_is_run():
    pytest.importorskip("cupy", reason="needs the extra cuda13")
    from dask_gpuscan.kernels.cuda.core import visitors

    assert {v.name for v in visitors.VISITORS} | {"wavelet"} == set(FAMILIES)
    # a row that is in no table is in none of them
    names = {v.name for v in vars(visitors).values() if isinstance(v, visitors.VisitorSpec)}
    assert names == {v.name for v in visitors.VISITORS}


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["select", "by_code", "mark_ties", "intervals", "box_image"])
def test_calls_answer_on_the_cpu(name):
    answers = list(FAMILIES[name](np.asarray))
    assert answers
    assert all(isinstance(answer, np.ndarray) for answer in answers)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("========= ERROR SUMMARY: 0 errors", True),
        ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", True),
        ("========= ERROR SUMMARY: 1 error", False),
        ("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)", False),
        ("", False),
        ("no device", False),
    ],
)
def test_what_a_tool_finds_fails(text, clean):
    assert summary(text)[0] is clean


def test_an_absent_program_and_an_unknown_tool_are_named(monkeypatch, capsys):
    assert main(["leakcheck"]) == 2
    assert "'leakcheck'" in capsys.readouterr().err
    monkeypatch.setattr("sanitizers.__main__.sanitizer", lambda: None)
    assert main([]) == 2
    assert "nvidia-cuda-sanitizer-api" in capsys.readouterr().err


def test_the_program_is_found_in_a_toolkit(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "compute-sanitizer"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert sanitizer() == str(program)
