"""What stands beside the code says what pyproject.toml says: README, recipe, workflow, oldest versions."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import dask_gpuscan
from helpers import oldest

ROOT = Path(__file__).parents[2]
PROJECT = oldest.PROJECT
PAGES = f"{PROJECT['urls']['Source']}/blob/main/"

REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?\s*(.*)")


def split_requirement(requirement: str) -> tuple[str, str]:
    """Return the name and the versions of ``name[extra]>=1``, which conda writes ``name >=1``."""
    found = REQUIREMENT.fullmatch(requirement)
    assert found, requirement
    return found[1], found[2]


@pytest.fixture(scope="module")
def recipe() -> dict:
    """The recipe as conda reads it: what is between braces filled in, then YAML."""
    text = (ROOT / "recipe" / "meta.yaml").read_text()
    values = dict(re.findall(r'{% set (\w+) = "(.*)" %}', text)) | {"PYTHON": "python"}
    lines = [line for line in text.splitlines() if not line.startswith("{%")]
    return yaml.safe_load(re.sub(r"{{ (\w+) }}", lambda name: values[name[1]], "\n".join(lines)))


def test_recipe_requires_what_the_project_requires(recipe: dict) -> None:
    python = f"python {PROJECT['requires-python']}"
    wanted = [python, *PROJECT["dependencies"]]
    assert dict(map(split_requirement, recipe["requirements"]["run"])) == dict(
        map(split_requirement, wanted)
    )
    assert python in recipe["requirements"]["host"]


def test_recipe_is_of_this_project(recipe: dict) -> None:
    assert recipe["package"] == {"name": PROJECT["name"], "version": dask_gpuscan.__version__}
    assert recipe["about"]["home"] == PROJECT["urls"]["Homepage"]
    assert recipe["about"]["doc_url"] == PROJECT["urls"]["Documentation"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_every_dependency_has_an_oldest_version() -> None:
    dependencies = PROJECT["dependencies"]
    pins = dict(pin.split("==") for pin in oldest.oldest(dependencies))
    assert set(pins) == {split_requirement(dependency)[0] for dependency in dependencies}


def test_readme_and_install_page_name_the_oldest_versions() -> None:
    pins = dict(pin.split("==") for pin in oldest.oldest(PROJECT["dependencies"]))
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    readme, install = ((ROOT / name).read_text() for name in ("README.md", "docs/install.md"))
    assert f"Python {versions[0]} to {versions[-1]}" in readme
    assert f"Python {versions[0]} or later" in install
    for name, found in (("pandas", "pandas"), ("Dask", "dask")):
        assert re.findall(rf"{name} ([\d.]+) or later", readme) == [pins[found]]
        assert re.findall(rf"{name} ([\d.]+) or later", install) == [pins[found]]


def test_install_page_names_the_extras() -> None:
    text = (ROOT / "docs" / "install.md").read_text()
    named = set(re.findall(r"dask-gpuscan\[(\w+)\]", text))
    assert {"examples", "xarray", "cuda13"} == named <= set(PROJECT["optional-dependencies"])


def test_oldest_versions_are_in_the_docs() -> None:
    page = (ROOT / "docs" / "versions.md").read_text()
    rows = dict(re.findall(r"(?m)^\| ([\w-]+) \| ([\w.]+) \|", page))
    assert rows == dict(
        [
            ("Python", PROJECT["requires-python"].removeprefix(">=")),
            *(pin.split("==") for pin in oldest.oldest(PROJECT["dependencies"])),
        ]
    )


def test_links_of_the_readme_hold_on_a_package_index() -> None:
    text = (ROOT / "README.md").read_text()
    links = re.findall(r"(?m)\]\((.*?)\)|^\[.*\]: (.*)$|<img .*src=\"(.*?)\"", text)
    links = ["".join(link) for link in links]
    assert links
    for link in links:
        assert link.startswith("https://"), link
        if link.startswith(PAGES):
            page, _, heading = link.removeprefix(PAGES).partition("#")
            assert (ROOT / page).exists(), link
            if heading:
                text = (ROOT / page).read_text().lower()
                assert f"# {heading.replace('-', ' ')}\n" in text, link


WORKFLOWS = ROOT / ".github" / "workflows"


def workflow(name: str) -> dict:
    return yaml.safe_load((WORKFLOWS / f"{name}.yml").read_text())


@pytest.fixture(scope="module")
def jobs() -> dict:
    return workflow("ci")["jobs"]


def test_workflows_run_targets_that_there_are(jobs: dict) -> None:
    named = [m["target"] for m in jobs["test"]["strategy"]["matrix"]["include"]]
    everywhere = [
        *jobs.values(),
        *workflow("docs")["jobs"].values(),
        *workflow("release")["jobs"].values(),
    ]
    commands = [step.get("run", "") for job in everywhere for step in job["steps"]]
    targets = {*named, *re.findall(r"(?m)^make ([\w-]+)$", "\n".join(commands))}
    assert {"check", "test", "test-oldest", "docs", "dist"} <= targets
    for target in targets:
        subprocess.run(
            ["make", "--dry-run", *target.split()], cwd=ROOT, check=True, capture_output=True
        )


def steps() -> list[str]:
    """Return each command of the workflows but those of make and conda, once."""
    names = ("ci", "docs", "release")
    jobs = [job for name in names for job in workflow(name)["jobs"].values()]
    found = dict.fromkeys(step["run"] for job in jobs for step in job["steps"] if "run" in step)
    return [command for command in found if command.split()[0] not in ("make", "conda")]


def ran(command: str, folder: Path, **variables: str) -> int:
    """Run a command as a workflow does, by this Python."""
    known = os.environ | {"PYTHON": sys.executable} | variables
    line = re.sub(r"\bpython ", '"$PYTHON" ', command, count=1)
    return subprocess.run(["bash", "-e", "-c", line], cwd=folder, env=known).returncode


@pytest.mark.parametrize("command", steps())
def test_steps_of_workflows(command: str, tmp_path: Path) -> None:
    """Each runs as far as it installs nothing and starts no tests."""
    if "pip install" in command:
        extras = re.findall(r"\.\[(\w+)\]", command)
        assert extras or "--editable . " in command or "dist/*" in command
        assert set(extras) <= set(PROJECT["optional-dependencies"])
    elif "-m pytest" in command:
        assert all((ROOT / each).is_dir() for each in re.findall(r"tests/\S+", command))
        assert ran(f"{command.removeprefix('PYTHON_GIL=0 ')} --noconftest --help", ROOT) == 0
    elif "GITHUB_REF_NAME" in command:
        version = dask_gpuscan.__version__
        (tmp_path / "dist").mkdir()
        (tmp_path / "dist" / f"{PROJECT['name'].replace('-', '_')}-{version}.tar.gz").touch()
        assert ran(command, tmp_path, GITHUB_REF_NAME=f"v{version}") == 0
        assert ran(command, tmp_path, GITHUB_REF_NAME=f"v{version}.post1") != 0
    else:
        assert ran(command, ROOT) == 0


def test_what_a_change_must_pass_can_be_read() -> None:
    assert ran("bash -n .ci/run", ROOT) == 0


def test_workflow_tests_every_python(jobs: dict) -> None:
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert f">={versions[0]}" == PROJECT["requires-python"]
    tested = {m["python"] for m in jobs["test"]["strategy"]["matrix"]["include"]}
    assert tested == set(versions) == set(jobs["install"]["strategy"]["matrix"]["python"])


def test_docs_are_published_where_the_project_says() -> None:
    owner, name = PROJECT["urls"]["Source"].split("/")[-2:]
    assert PROJECT["urls"]["Documentation"] == f"https://{owner}.github.io/{name}/"
    jobs = workflow("docs")["jobs"]
    uploads = [step for step in jobs["build"]["steps"] if "upload-pages" in step.get("uses", "")]
    assert uploads[0]["with"]["path"] in (ROOT / "Makefile").read_text()
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


def test_releases_need_no_password() -> None:
    publish = workflow("release")["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == "dist"
    assert "secrets." not in (WORKFLOWS / "release.yml").read_text()
