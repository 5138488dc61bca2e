"""Run other libraries' own tests with our methods in the place of theirs.

    python -m foreign pandas --theme cumulative --cut whole -k strings

runs those of a library, a theme and a cut of frames, or without one those of all; other arguments are pytest's. A run
without such arguments is kept in `results.json` and shown in `README.md`, if no test fails, none differs that did not
before, and no fewer pass; `--accept` keeps it whatever differs and passes, and `--check` keeps nothing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .cuts import CUTS
from .libraries import LIBRARIES
from .results import complaints, keep
from .suite import Library

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m foreign", allow_abbrev=False)
    parser.add_argument("libraries", nargs="*", choices=[*LIBRARIES, []], default=[])
    parser.add_argument("--theme", action="append", help="a theme of each library")
    parser.add_argument("--cut", action="append", choices=CUTS, help="of pandas' frames")
    parser.add_argument("--numprocesses", default="auto", help="as of pytest-xdist")
    parser.add_argument("--accept", action="store_true", help="keep what is otherwise than before")
    parser.add_argument("--check", action="store_true", help="keep nothing")
    asked, others = parser.parse_known_args(arguments)
    counted = not others
    others += ["--numprocesses", asked.numprocesses]
    wrong = list[str]()
    for library in [LIBRARIES[name] for name in asked.libraries or LIBRARIES]:
        if library.missing():
            print(f"{library.name}: not run, {library.missing()}")
            continue
        themes = [t for t in asked.theme or library.suites if t in library.suites]
        cuts = (asked.cut or list(CUTS)) if library.name == "pandas" else ["whole"]
        for cut in cuts:
            title = f"{library.name} {library.version()}, frames cut: {cut}"
            print(title, flush=True)
            status, found = _run(library, themes, cut, others)
            if status:
                wrong.append(f"{title}: tests fail")
            elif counted:
                new = list(complaints(library, cut, found))
                if new and not asked.accept:
                    wrong += [f"{title}: {what}" for what in new]
                elif not asked.check:
                    keep(library, cut, found)
    print(*wrong, sep="\n")
    return bool(wrong)


def _run(
    library: Library, themes: list[str], cut: str, others: list[str]
) -> tuple[int, dict[str, Any]]:
    """Run the tests of some themes; return pytest's status and what was counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        command = [
            *(sys.executable, "-m", "pytest", "-c", str(HERE / "foreign.ini")),
            *("--library", library.name, "--cut", cut, "--found", str(path)),
            *library.arguments(themes),
            *others,
        ]
        status = subprocess.run(command, check=False).returncode
        return status, json.loads(path.read_text()) if path.exists() else {}


sys.exit(main(sys.argv[1:]))
