# Bare `make` prints the targets.
comma := ,
PYTHON ?= python3
JOBS ?= 2
BUILD := build/develop
SANITIZE ?= address,undefined
NATIVE := build/native-test-$(subst $(comma),-,$(SANITIZE))
CPP := $(shell find src/core src/bind tests/core -name '*.hpp' -o -name '*.cpp')
GENERATOR := $(if $(shell command -v ninja),-G Ninja)
RUN := PYTHONPATH=src $(PYTHON)

.DEFAULT_GOAL := help
.PHONY: help develop stubs test lint types format native-test bench docs clean

help:  ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 14

develop:  ## build this machine's variant of the native core into src/tutelage (then use PYTHONPATH=src)
	@cmake -S . -B $(BUILD) $(GENERATOR) -DCMAKE_BUILD_TYPE=Release -DTUTELAGE_VARIANTS=best -DTUTELAGE_INPLACE=ON \
	  -DTUTELAGE_STRICT=ON -DPython_EXECUTABLE="$$($(PYTHON) -c 'import sys; print(sys.executable)')" \
	  -DPython_FIND_VIRTUALENV=ONLY --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS)

stubs: develop  ## write src/tutelage/_core.pyi, the types of the native core, from the built module
	@$(RUN) -m nanobind.stubgen -q -m tutelage._core -o src/tutelage/_core.pyi
	@$(PYTHON) -m ruff format -q src/tutelage/_core.pyi

native-test:  ## build and run tests/core under AddressSanitizer and UndefinedBehaviorSanitizer (SANITIZE=thread: races)
	@cmake -S . -B $(NATIVE) $(GENERATOR) -DCMAKE_BUILD_TYPE=Debug -DTUTELAGE_TESTS=ON -DTUTELAGE_STRICT=ON \
	  -DTUTELAGE_SANITIZE=$(SANITIZE) --log-level=WARNING
	@cmake --build $(NATIVE) -j $(JOBS)
	@$(NATIVE)/tests/core/native_tests

test:  ## run the test suite against the in-place build (ARGS='-k name' selects)
	@PYTHONPATH=src $(PYTHON) -m pytest $(ARGS)

lint:  ## check style: ruff and clang-format
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@clang-format --dry-run -Werror $(CPP)

types:  ## check types: mypy, strict
	@$(PYTHON) -m mypy

format:  ## rewrite the sources in the house style
	@$(PYTHON) -m ruff check --fix-only -q .
	@$(PYTHON) -m ruff format -q .
	@clang-format -i $(CPP)

bench:  ## run us and the peers side by side (writes benchmarks/RESULTS.md)
	@$(RUN) -m benchmarks.against

docs:  ## run every example of the docstrings and the guides
	@PYTHONPATH=src $(PYTHON) -m pytest tests/test_docs.py -q

clean:  ## remove everything that was built
	rm -rf build dist src/tutelage/*.so src/tutelage/*.pyd .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
