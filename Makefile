PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
TEST_PROCESSES ?= 2
# Without bytecode, which some environments forbid, every process of the tests compiles all sources anew.
unexport PYTHONDONTWRITEBYTECODE
# Whichever process has nothing left to do takes half of what another still has.
PYTEST = $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal

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

docs: $(VENV)/.docs ## run docs/lectures.md, write its output and pictures; build the documentation site in site/, links checked
	$(BIN)/python docs/executed.py docs/lectures.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

play: $(VENV)/.runtime ## play connect four against the machine
	@# 1: a match was aborted, by the person who quit it
	$(BIN)/ggp match connectfour human mcts || test $$? -eq 1

bench: $(VENV)/.runtime ## playouts per CPU second on games that come along
	$(BIN)/ggp bench tictactoe connectfour breakthrough othello

setup: $(VENV)/.development ## create the environment for development

# Two pips at once, one for the libraries and one for ggp itself, while the environment gets its own: half the time of one.
# Where that fails, as with a $(PYTHON) that has no pip or an old one, the environment's pip does all of it.
PIP_INSTALL = $(PYTHON) -m pip --python $(BIN)/python install -q --no-compile
LIBRARIES = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")

$(VENV)/.runtime: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@echo "installing ggp and its libraries into $(VENV) (once, about a minute) ..."
	@$(PYTHON) -c '$(LIBRARIES)' > $(VENV)/libraries.txt
	@{ test -x $(BIN)/pip || $(BIN)/python -m ensurepip --default-pip > /dev/null; } & own_pip=$$!; \
	$(PIP_INSTALL) --no-deps -e . 2> /dev/null & package=$$!; \
	$(PIP_INSTALL) -r $(VENV)/libraries.txt 2> /dev/null; libraries=$$?; \
	wait $$own_pip; wait $$package && test $$libraries -eq 0 || $(BIN)/pip install -q --no-compile -e .
	touch $@

$(VENV)/.development: pyproject.toml
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "installing ggp, its libraries and the development tools into $(VENV) (once, a few minutes) ..."
	$(BIN)/pip install -q -e '.[dev,rl,openspiel,e2e]'
	touch $@ $(VENV)/.runtime

$(VENV)/.docs: pyproject.toml
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "installing ggp, its libraries and the documentation tools into $(VENV) (once, a few minutes) ..."
	$(BIN)/pip install -q -e '.[docs]'
	touch $@ $(VENV)/.runtime
