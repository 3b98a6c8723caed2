# `make demo` and `make test` are all a newcomer needs; `make help` lists the rest.
PORT ?= 8000
HOST ?= 127.0.0.1
WORKERS ?= 1
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
MANAGE := $(BIN)/python manage.py
LABELHUB := $(BIN)/python -m labelhub
# Tests start our programs a hundred times: without stored bytecode each compiles all of it anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install install-dev demo serve worker test quick test-thorough check format test-services test-peers e2e screenshots bench bundle operations messages lock release

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	@deploy/make-venv $(PYTHON) $(VENV)

$(VENV)/.run: requirements.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	@touch $@ $(VENV)/.run

install: $(VENV)/.run  ## install what the server needs into .venv

install-dev: $(VENV)/.dev  ## and what checks and tests need

demo: install  ## a ready project to try, on http://127.0.0.1:8000 (PORT=9000)
	@exec $(LABELHUB) demo --host $(HOST) --port $(PORT)

# The wheel brings its static files; a checkout collects them here.
serve: install  ## production-like server (needs LABELHUB_SECRET_KEY)
	@umask 077; DJANGO_SETTINGS_MODULE=labelhub.settings.prod $(MANAGE) collectstatic --noinput --verbosity 0
	@exec $(LABELHUB) serve --host $(HOST) --port $(PORT) --workers $(WORKERS)

worker: install  ## extra worker (needs REDIS_URL and LABELHUB_SECRET_KEY; QUEUES=interactive,runs,heavy)
	@exec $(LABELHUB) worker $(if $(QUEUES),--queues $(QUEUES))

test: install-dev  ## the suite on the embedded default, without what takes long
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not services and not thorough and not e2e and not peers" -ra

quick:  ## the tests of what you touched since the last commit (SINCE=REF: since another), no browser
	@$(BIN)/python tests/quick.py "$(SINCE)"

test-thorough: install-dev  ## what takes long, on the embedded default: kills, servers, simulations
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "thorough and not services and not e2e and not peers" -ra

test-services: install-dev  ## PostgreSQL, Redis, Celery workers and several servers
	deploy/with-services $(BIN)/python -m pytest -m "not e2e and not peers" -n 2 --dist worksteal -ra

screenshots: install-dev  ## take the README's pictures anew, from a fresh demo
	$(BIN)/python tests/e2e/pictures.py

e2e: install-dev  ## browser tests: journeys, and every page; fails without a Chromium
	LABELHUB_REQUIRE_BROWSER=1 $(BIN)/python -m pytest tests/e2e -m e2e -n 2 --dist worksteal -ra

$(PEERS)/.done: tests/peers/requirements.txt tests/peers/package.json
	@deploy/make-venv $(PYTHON) $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/peers/requirements.txt
	cp tests/peers/package.json $(PEERS) && npm install --silent --no-package-lock --prefix $(PEERS)
	@touch $@

test-peers: install-dev $(PEERS)/.done  ## against the real Label Studio and a certified OpenID provider, by hand and before a release (REWRITE=1: renew the files of the daily tests)
	LABELHUB_PEERS=$(PEERS) LABELHUB_PEERS_REWRITE=$(REWRITE) $(BIN)/python -m pytest tests/peers -m peers -ra

bench: install-dev  ## benchmarks: a table and JSON each
	$(BIN)/python tests/bench/queue_bench.py
	$(BIN)/python tests/bench/debate_bench.py
	$(BIN)/python tests/bench/widget_bench.py
	$(BIN)/python tests/bench/agreement_bench.py

bundle:  ## build the widget's files anew, with esbuild
	deploy/bundle-widget

operations: install-dev  ## renew the Python client's table of the REST interface
	DJANGO_SETTINGS_MODULE=labelhub.settings.test $(MANAGE) spectacular --format openapi-json | $(BIN)/python deploy/operations.py

messages: install  ## bring the translations up to date with the texts in code and templates
	$(BIN)/python deploy/messages.py

check: install-dev  ## lint, format, types, imports, templates, migrations, OpenAPI, the widget's files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint templates --lint --quiet
	deploy/bundle-widget --check
	$(BIN)/python deploy/messages.py --check
	$(BIN)/lint-imports
	$(BIN)/mypy
	DJANGO_SETTINGS_MODULE=labelhub.settings.test $(MANAGE) makemigrations --check --dry-run
	LABELHUB_TEXT_KEYS=checked LABELHUB_SECRET_KEY=checked-and-thrown-away-0123456789-0123456789-abcdefgh DJANGO_SETTINGS_MODULE=labelhub.settings.prod $(MANAGE) check --deploy --fail-level WARNING
	DJANGO_SETTINGS_MODULE=labelhub.settings.test $(MANAGE) spectacular --validate --fail-on-warn --file /dev/null

format: install-dev  ## mend what lint can mend, and format the code
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format .

lock:  ## renew the lock files from pyproject.toml
	$(PYTHON) deploy/lock.py

release: install-dev  ## build and try wheel, client, list of components and image, into dist/
	$(BIN)/python deploy/release.py
