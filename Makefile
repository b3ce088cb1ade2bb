# Everything a fresh machine needs: Python 3.11 to 3.14, make and a package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint bench clean

run: $(VENV)/.installed
	@$(BIN)/python -c "import kokoro_live" 2> /dev/null || { echo "$(VENV) doesn't fit this system's Python any more:" \
		"\`make clean run\` makes it again." >&2; exit 1; }
	@exec $(BIN)/kokoro-live serve $(ARGS)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(ARGS)

bench: $(VENV)/.installed-dev
	@$(BIN)/kokoro-live bench $(ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin

$(VENV)/.installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON): install Python 3.11 to 3.14, or name one, as in" \
		"\`make run PYTHON=/path/to/python3.12\`." >&2; exit 1; }
	@$(PYTHON) deploy/environment.py $(VENV)
	@$(BIN)/python deploy/install.py '.[model]' .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt $(VENV)/.installed
	@$(BIN)/python deploy/install.py '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) dist kokoro_live/bundled
