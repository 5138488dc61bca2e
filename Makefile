# Everything here needs make and Python 3.11 or later, nothing else: each target that runs Python makes its own virtual
# environment under .venv/ and makes it anew when pyproject.toml changes.

PYTHON ?= python3

# Empty, so that Python keeps what it compiles, whatever the environment says: tests start some hundred processes, and
# each would compile the package anew, for half a second.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo clicks test test-oldest test-newest foreign faults sanitize fuzz simulate threads spills routes aarch64 check format docs pack cubins dist bench bench-gpu clean
.NOTPARALLEL:

help:
	@echo 'make demo         the example on real flights data (examples/flights_etl.py)'
	@echo 'make clicks       the example on a click log of any size (examples/clicks_etl.py): CLICKS="--rows 2000000000 --gpus 2"'
	@echo 'make test         all tests, with the doctests of the package and of docs/'
	@echo 'make test-oldest  the same with the oldest versions that pyproject.toml allows'
	@echo 'make test-newest  the same with the newest versions, pre-releases included'
	@echo 'make foreign      tests of pandas, Dask, cuDF and CuPy, with our methods in the place of theirs'
	@echo 'make spills       every CUDA kernel for every architecture: none may spill registers'
	@echo 'make faults       workers, one for each method, and schedulers that die in mid-job; memory that runs out; interrupts'
	@echo 'make sanitize     every family of CUDA kernels under compute-sanitizer, on a GPU host: TOOLS=racecheck'
	@echo 'make fuzz         cases at random for as long as it is told: MINUTES=30, SEED=7, FUZZ="frames predicates"'
	@echo 'make simulate     each method in schedules at random, its tasks lost, late, run twice: MINUTES=30, SEED=7'
	@echo 'make threads      each method called by 16 threads at once, with no kernel compiled yet: METHODS="Gpuscan.cumsum"'
	@echo 'make routes       the files and the calls of a warm call, for seven calls'
	@echo 'make aarch64      calls with compiled kernels for Linux on ARM, by QEMU'
	@echo 'make check        formatting, lint rules, imports, types'
	@echo 'make format       apply the formatting and the lint fixes that are safe'
	@echo 'make docs         the documentation, into docs/_build/html'
	@echo 'make pack         machine code of the kernels of usual calls, into build/packed: PACK="--only cumsum --jobs 4"'
	@echo 'make cubins       the same for GPUs, on a machine with one: a wheel of its own, into dist: PACK="--architectures sm_90"'
	@echo 'make dist         the sdist, a wheel for every machine, and one with that machine code for each system, into dist'
	@echo 'make bench        the benchmarks, into benchmarks/results'
	@echo 'make bench-gpu    those of a GPU, on a machine with one and a driver for CUDA 13'
	@echo 'make clean        remove what these targets made'

# --- virtual environments: .venv/NAME/ready has the extras of EXTRAS_NAME and ALSO_NAME -----------------------------

EXTRAS_demo   := examples
EXTRAS_test   := test,cuda13
EXTRAS_check  := check
EXTRAS_docs   := docs
EXTRAS_gpu    := cuda13,pack
EXTRAS_oldest := test
EXTRAS_newest := test,cuda13
EXTRAS_dist   := dist
ALSO_gpu      := nvidia-cuda-sanitizer-api 'cuda-cccl[cu13]' 'cudf-cu13>=26.10' 'dask-cudf-cu13>=26.10' 'dask-cuda>=26.10'
ALSO_newest   := --pre
ALSO_oldest    = $$($(PYTHON) tests/helpers/oldest.py)

# uv takes a sixth of the time of pip, which knows of indexes that uv has not been told of.
PIP  = .venv/$*/bin/python -m pip install --quiet --disable-pip-version-check
UV   = .venv/$*/bin/python -m uv pip install --quiet --python .venv/$*/bin/python
WHAT = --editable '.[$(EXTRAS_$*)]' $(ALSO_$*)

.PRECIOUS: .venv/%/ready
.venv/%/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo 'dask-gpuscan needs Python 3.11 or later, and "$(PYTHON)" is' \
	    "$$($(PYTHON) --version 2>&1 | head -n 1)." >&2; \
	  echo 'Name another one: make $(MAKECMDGOALS) PYTHON=python3.13' >&2; exit 1; }
	@echo 'Making .venv/$* (once, and again when pyproject.toml changes) ...'
	@rm -rf .venv/$*
	@$(PYTHON) -m venv .venv/$*
	@$(PIP) uv
	@$(UV) $(WHAT) 2>/dev/null || $(PIP) $(WHAT)
	@touch $@

# --- what users and developers run ---------------------------------------------------------------------------------

demo: .venv/demo/ready
	.venv/demo/bin/python examples/flights_etl.py $(DEMO)

clicks: .venv/demo/ready
	.venv/demo/bin/python examples/clicks_etl.py $(CLICKS)

test: .venv/test/ready
	.venv/test/bin/python -m pytest --numprocesses auto --dist worksteal $(PYTEST)

test-oldest: .venv/oldest/ready
	.venv/oldest/bin/python -m pytest --numprocesses auto --dist worksteal $(PYTEST)

test-newest:  # asks for the newest each time
	rm -f .venv/newest/ready
	$(MAKE) .venv/newest/ready
	.venv/newest/bin/python -m pytest --numprocesses auto --dist worksteal $(PYTEST)

foreign: .venv/test/ready
	cd tests && DASK_GPUSCAN_CACHE=$${DASK_GPUSCAN_CACHE:-../.pytest_cache/kernels} ../.venv/test/bin/python -m foreign $(PYTEST)

faults: .venv/test/ready
	FAULTS=1 .venv/test/bin/python -m pytest --timeout 900 tests/faults $(PYTEST)

# compute-sanitizer is on the path, in a toolkit or in its own package.
sanitize: .venv/gpu/ready
	cd tests && ../.venv/gpu/bin/python -m sanitizers $(TOOLS)

spills: .venv/test/ready
	ARCHITECTURES=all .venv/test/bin/python -m pytest --numprocesses auto -m spills tests/cuda

fuzz: .venv/test/ready
	cd tests && DASK_GPUSCAN_CACHE=$${DASK_GPUSCAN_CACHE:-../.pytest_cache/kernels} ../.venv/test/bin/python -m fuzz \
	  $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(FUZZ)

# A fuzzer that draws schedules.
simulate: FUZZ := schedules
simulate: fuzz

threads: .venv/test/ready
	cd tests && ../.venv/test/bin/python -m helpers.threads $(METHODS)

routes: .venv/test/ready
	cd tests && ../.venv/test/bin/python -m helpers.routes

.venv/aarch64/ready: .venv/test/ready
	rm -rf .venv/aarch64
	cd tests && ../.venv/test/bin/python -m helpers.aarch64 ../.venv/aarch64
	@touch $@

aarch64: .venv/aarch64/ready
	.venv/test/bin/python -m pytest tests/kernels/compiler/test_pack.py -k arm $(PYTEST)

check: .venv/check/ready
	.venv/check/bin/ruff format --check .
	.venv/check/bin/ruff check .
	.venv/check/bin/lint-imports --cache-dir .venv/check/imports
	.venv/check/bin/mypy --cache-dir .venv/check/mypy --package dask_gpuscan --module dask_gpuscan_sizes
	.venv/check/bin/python -m pytest --quiet tests/typing

format: .venv/check/ready
	.venv/check/bin/ruff check --fix .
	.venv/check/bin/ruff format .

docs: .venv/docs/ready
	.venv/docs/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo 'Open docs/_build/html/index.html'

pack: .venv/dist/ready
	.venv/dist/bin/python pack/build.py $(PACK)

cubins: .venv/gpu/ready
	.venv/gpu/bin/python pack/cubins.py $(PACK)

dist: .venv/dist/ready
	rm -rf dist
	.venv/dist/bin/python pack/build.py --systems all $(PACK)
	.venv/dist/bin/python -m build
	.venv/dist/bin/python pack/wheels.py
	.venv/dist/bin/python -m twine check --strict dist/*

bench: .venv/test/ready
	.venv/test/bin/python benchmarks/cpu.py $(BENCH)

# nvcc, for CUB's side, comes with the compilers of the extra cuda13; one part that fails does not keep the others back.
bench-gpu: .venv/gpu/ready
	@PATH="$$(echo "$(CURDIR)"/.venv/gpu/lib/python3*/site-packages/nvidia/cu13/bin):$$PATH"; \
	failed=; for part in gpu compaction_gpu intervals_gpu sort_gpu compute_gpu frames_gpu groups_gpu windows_gpu lists_gpu grids_gpu; do \
	  .venv/gpu/bin/python benchmarks/$$part.py $(BENCH) || failed="$$failed $$part"; \
	done; test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

clean:
	rm -rf .venv build dist *.egg-info docs/_build docs/_drawn docs/api/generated flights_out clicks_out
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
