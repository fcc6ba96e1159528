# make app   sets everything up and opens the dashboard
# make test  sets everything up and runs the tests; ARGS=... replaces the options, such as ARGS=tests/losses
# make screenshots   pictures of every page, both themes and a narrow window, into data/screenshots
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?= -n auto --dist loadfile

.PHONY: app test lint screenshots clean

app: $(VENV)/.app
	$(BIN)/streamlit run app.py --server.headless=false

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .

screenshots: $(VENV)/.dev
	$(BIN)/python -m tests.browser.screenshots --out data/screenshots --documents

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; try: make app PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

$(VENV)/.app: $(VENV)/.venv requirements.txt
	@test -e $(VENV)/.dev || echo "Installing the requirements; the first time this takes some minutes."
	$(BIN)/python -m pip install --quiet -r requirements.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.app requirements-dev.txt
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	@touch $@

clean:
	rm -rf $(VENV)
