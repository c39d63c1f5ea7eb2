PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
TEST_PROCESSES ?= 2

.PHONY: match test lint play bench setup

match: $(VENV)/.runtime ## two machine players play connect four
	$(BIN)/ggp match connectfour

test: $(VENV)/.development ## run the tests
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

lint: $(VENV)/.development ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

play: $(VENV)/.runtime ## play connect four against the machine
	$(BIN)/ggp match connectfour human mcts

bench: $(VENV)/.runtime ## playouts per CPU second on games that come along
	$(BIN)/ggp bench tictactoe connectfour breakthrough othello

setup: $(VENV)/.development ## create the environment for development

$(VENV)/.runtime: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e .
	touch $@

$(VENV)/.development: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e '.[dev,prolog,charts,distributed]'
	touch $@ $(VENV)/.runtime
