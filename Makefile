PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
TEST_PROCESSES ?= 2
# Without bytecode, which some environments forbid, every process of the tests compiles all sources anew.
unexport PYTHONDONTWRITEBYTECODE
PYTEST = $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

.PHONY: match serve test test-slow test-all lint docs play bench setup

match: $(VENV)/.runtime ## two machine players play connect four, half a second a move
	$(BIN)/ggp match connectfour --play-clock 0.5

serve: $(VENV)/.runtime ## play, watch and write games in the browser
	$(BIN)/ggp serve

test: $(VENV)/.development ## run the tests, those marked slow excepted
	$(PYTEST) -m "not slow"

test-slow: $(VENV)/.development ## run the tests marked slow
	$(PYTEST) -m slow

test-all: $(VENV)/.development ## run every test
	$(PYTEST)

lint: $(VENV)/.development ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs ## build the documentation site in site/, links checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

play: $(VENV)/.runtime ## play connect four against the machine
	@# 1: a match was aborted, by the person who quit it
	$(BIN)/ggp match connectfour human mcts || test $$? -eq 1

bench: $(VENV)/.runtime ## playouts per CPU second on games that come along
	$(BIN)/ggp bench tictactoe connectfour breakthrough othello

setup: $(VENV)/.development ## create the environment for development

$(VENV)/.runtime: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing ggp and its libraries into $(VENV) (once, about a minute) ..."
	$(BIN)/pip install -q --no-compile -e .
	touch $@

$(VENV)/.development: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing ggp, its libraries and the development tools into $(VENV) (once, a few minutes) ..."
	$(BIN)/pip install -q -e '.[dev,prolog,charts,distributed,rl,openspiel,e2e]'
	touch $@ $(VENV)/.runtime

$(VENV)/.docs: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing ggp, its libraries and the documentation tools into $(VENV) (once, a few minutes) ..."
	$(BIN)/pip install -q -e '.[docs]'
	touch $@ $(VENV)/.runtime
