"""An editable install: what runs is this folder, and type checkers find it, too."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_checkers_find_an_editable_install(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps")
    subprocess.run([*pip, "--editable", ROOT], check=True, cwd=tmp_path)
    (packages,) = tmp_path.glob("env/lib/python3*/site-packages")
    links = Path(packages.joinpath("dask_gpuscan_links.pth").read_text().strip())
    # checkers look for packages in the folders on the path, one within the other
    for name in ("py.typed", "__init__.py", "api/on.py", "kernels/cpu/scan.py"):
        assert links.joinpath("dask_gpuscan", name).is_file()
    assert links.joinpath("dask_gpuscan", "kernels").samefile(ROOT / "kernels")
    find = "import importlib.util as u; print(u.find_spec('dask_gpuscan').origin)"
    done = subprocess.run([python, "-c", find], cwd=tmp_path, capture_output=True, text=True)
    assert Path(done.stdout.strip()).samefile(ROOT / "dask_gpuscan" / "__init__.py")


def test_links_are_those_of_the_folders(tmp_path: Path) -> None:
    make = ROOT / "build_backend" / "link_tree.py"
    for _ in range(2):  # made anew
        subprocess.run([sys.executable, make, tmp_path / "links"], check=True)
        linked = {path.name for path in tmp_path.joinpath("links", "dask_gpuscan").iterdir()}
        assert linked == {path.name for path in ROOT.joinpath("dask_gpuscan").iterdir()} | {
            "kernels"
        }
    assert ROOT.joinpath("kernels", "scan.py").is_file()  # what is removed is links
