# Two commands do everything on a fresh machine: `make demo` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
AGENT_CLIS ?= .cache/agents
TESTS ?= tests
SEEDS ?= 1000
DAYS ?= 1
SUITE ?= core
SHARD ?= 1/1

.PHONY: demo test test-crash simulate check lint format test-agents bench wheel clean tools

demo: $(VENV)/.ready
	@$(BIN)/nightcrew demo $(if $(KEEP),--keep) $(if $(AGENTS),--agents $(AGENTS))

test: $(VENV)/.ready-dev
	$(MAKE) lint
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not agents" $(TESTS)

check: test

# kill -9 before and after every effect of a whole life, one at a time: a quarter of an hour. SHARD=2/4: a quarter of them.
test-crash: $(VENV)/.ready-dev
	NIGHTCREW_SHARD="$(SHARD)" $(BIN)/python -m pytest -n auto -m crash tests/whole

# Simulated days from many seeds over all cores; MUTANTS=1 plants bugs instead and shows that each is found.
simulate: $(VENV)/.ready-dev
	$(BIN)/python -m tests.simulation $(if $(MUTANTS),--mutants,--suite $(SUITE) --seeds $(SEEDS) --days $(DAYS))

lint: $(VENV)/.ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: $(VENV)/.ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Installs the real CLIs, versions pinned, into a cached folder, and drives them against a model server on loopback.
test-agents: $(VENV)/.ready-dev
	NIGHTCREW_AGENT_CLIS="$(AGENT_CLIS)" $(BIN)/python -m tests.agents_real.install
	NIGHTCREW_AGENT_CLIS="$(AGENT_CLIS)" $(BIN)/python -m pytest -m agents tests/agents_real

bench: $(VENV)/.ready-dev
	$(BIN)/python -m bench

wheel: $(VENV)/.ready-dev
	$(BIN)/python -m pip wheel -q --no-deps -w dist .

clean:
	rm -rf $(VENV) dist build .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# What Nightcrew needs besides Python; what is missing is named with the command that installs it.
tools:
	@$(PYTHON) .ci/tools.py

$(VENV)/.ready: pyproject.toml | tools
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.ready-dev: pyproject.toml | tools
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.ready
