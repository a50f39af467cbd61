# Needs make and Python 3.11; Java 17 too, once queries run on Spark. The rest goes into .venv.

PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
BIN := .venv/bin
FOLDERS := app bench catalog compiler grammar queries runtime tests

.DEFAULT_GOAL := help
.PHONY: help setup test test-slow lint format demo bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The install is strict because mypy cannot follow the other kind through a package-dir mapping. A strict install
# shows only the files there were when it was made: the stamp holds their list, and pyproject.toml.
setup: ## Make .venv and install Penstock in it; quick when that is done
	@test -x $(BIN)/pip || { \
	    $(PYTHON) -c 'import sys; sys.exit("Penstock needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)' && \
	    echo "making .venv with $(PYTHON)" && $(PYTHON) -m venv .venv; }
	@{ find $(FOLDERS) -type f \( -name '*.py' -o -name '*.lark' -o -name '*.yml' -o -name '*.cql' -o -name '*.md' -o -name '*.properties' -o -name '*.css' -o -name '*.js' -o -name py.typed \) \
	    | LC_ALL=C sort; cat pyproject.toml; } > .venv/penstock.files.new
	@if test -d build && cmp -s .venv/penstock.files.new .venv/penstock.files; then rm .venv/penstock.files.new; else \
	    echo "installing into .venv" && \
	    $(BIN)/pip install -qq --disable-pip-version-check -e '.[dev]' --config-settings editable_mode=strict && \
	    mv .venv/penstock.files.new .venv/penstock.files; fi

test: lint ## Lint, then run the tests
	$(BIN)/pytest

test-slow: setup ## Run the tests that take minutes
	$(BIN)/pytest -m slow

lint: setup ## Check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## Format the code and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: setup ## Run a small project on Spark, with data it makes itself
	$(BIN)/penstock demo build/demo

bench: setup ## Measure, beside Spark's own joins, Flink, Pathway and DuckDB; takes over an hour
	$(BIN)/penstock bench

clean: ## Remove what was built, but not .venv
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .venv/penstock.files*
	find $(FOLDERS) -name __pycache__ -type d -prune -exec rm -rf {} +
