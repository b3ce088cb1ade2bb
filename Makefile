# Everything a fresh machine needs: Python 3.11 to 3.14, make and a package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test check lint bench clean dist dist-wheel dist-deb dist-image dist-home-assistant dist-browser sbom hashes machines release

run: $(VENV)/.installed
	@$(BIN)/python -c "import kokoro_live" 2> /dev/null || { echo "$(VENV) doesn't fit this system's Python any more:" \
		"\`make clean run\` makes it again." >&2; exit 1; }
	@exec $(BIN)/kokoro-live serve $(ARGS)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 6 --dist worksteal $(ARGS)

# A minute before a commit: the linters, and what tests start no server, without those of long, random or generated texts.
FAST = tests/test_architecture.py tests/test_documents.py tests/text tests/books/reading tests/worker/models tests/worker/test_machine.py \
    tests/supervisor/settings $(addprefix tests/frontend/,planning streams scheduling timestamps contexts monitoring)
LONG = linear or grows or say_the_same or generated or random or test_logs

check: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -k "not ($(LONG))" $(FAST) $(ARGS)

bench: $(VENV)/.installed-dev
	@$(BIN)/kokoro-live bench $(ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin & $(BIN)/mypy && wait $$!

$(VENV)/.installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON): install Python 3.11 to 3.14, or name one, as in" \
		"\`make run PYTHON=/path/to/python3.12\`." >&2; exit 1; }
	@$(PYTHON) deploy/environment.py $(VENV)
	@$(BIN)/python deploy/install.py '.[model]' .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt $(VENV)/.installed
	@$(BIN)/python deploy/install.py '.[dev]'
	@touch $@

# All that a release has, in dist/. Each can be made alone.
VERSION_HERE = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
WHEEL = dist/kokoro_live-$(VERSION_HERE)-py3-none-any.whl
DEB_PYTHON ?= /usr/bin/python3
IMAGE = dist/kokoro-live-$(VERSION_HERE)-$(ARCH).docker.tar
ARCH ?= $(shell uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')

dist: dist-wheel dist-home-assistant dist-browser dist-deb dist-image

# With the pinned build backend, whose version is in the wheel: the same commit gives the same bytes.
dist-wheel: $(VENV)/.installed-dev
	$(BIN)/python -m build --no-isolation --outdir dist .
	@cp constraints-hashes.txt dist

# Hashes of the pinned packages of an installation with Kokoro, for every system and Python; its tool has an environment of
# its own (colorama is click's for Windows). Make them again after a change of constraints.txt or of the dependencies.
hashes:
	@rm -rf build/uv && python3 -m venv build/uv && build/uv/bin/pip install -q uv
	@build/uv/bin/uv pip compile -q --no-config --universal --python-version 3.11 --extra model -c constraints.txt \
	    --generate-hashes --no-annotate --no-emit-index-url --no-emit-package colorama \
	    --custom-compile-command 'make hashes' pyproject.toml -o constraints-hashes.txt

# For Debian's own Python on the machine that runs this.
dist-deb: dist-wheel
	@if command -v dpkg-deb > /dev/null; then $(DEB_PYTHON) deploy/deb.py $(WHEEL); else echo "no Debian package: no dpkg-deb" >&2; fi

# An archive for `docker load` or `podman load`; the OCI format has no health checks.
# `make dist-image ARCH=arm64` needs qemu-user elsewhere; IMAGE_ARGS='--build-arg BASE=IMAGE' takes another base.
dist-image:
	@if command -v buildah > /dev/null; then \
	    buildah build --format docker --arch $(ARCH) $(IMAGE_ARGS) -f deploy/Dockerfile -t kokoro-live:$(VERSION_HERE) . && mkdir -p dist && \
	    rm -f $(IMAGE) && \
	    buildah push kokoro-live:$(VERSION_HERE) docker-archive:$(IMAGE):kokoro-live:$(VERSION_HERE); \
	else echo "no image: no buildah" >&2; fi

dist-home-assistant: dist-wheel
	@rm -rf build/kokoro_live && mkdir -p build && cp -r deploy/home-assistant build/kokoro_live
	@cp $(WHEEL) constraints-hashes.txt CHANGELOG.md LICENSE build/kokoro_live
	tar -C build -czf dist/kokoro-live-$(VERSION_HERE)-home-assistant.tar.gz kokoro_live

# For the browsers' stores, which give an extension a key of their own; checked by Mozilla's linter.
dist-browser:
	@if command -v npm > /dev/null; then rm -rf build/browser && mkdir -p build dist && cp -r clients/browser build && \
	    sed -e '/^  "key":/d' -e 's/"version": "[^"]*"/"version": "$(shell echo $(VERSION_HERE) | sed 's/[a-z].*//')"/' \
	        clients/browser/manifest.json > build/browser/manifest.json && cd build/browser && \
	    npm ci -s --ignore-scripts --no-audit --no-fund && npx -y web-ext@10.7.0 lint && npm run -s package && \
	    mv kokoro-live.zip ../../dist/kokoro-live-browser-$(VERSION_HERE).zip; \
	else echo "no browser extension: no npm" >&2; fi

# Packages that an installation has, in CycloneDX; its tool has an environment of its own.
sbom: dist-wheel
	@rm -rf build/installed build/sbom && python3 -m venv build/installed && python3 -m venv build/sbom
	@build/installed/bin/pip install -q --require-hashes -r constraints-hashes.txt
	@build/installed/bin/pip install -q --no-deps '$(WHEEL)'
	@echo 'import glob, sys; sys.path += glob.glob(sys.prefix + "/lib/*/site-packages/kokoro_live/bundled")' \
	    > $$(echo build/installed/lib/*/site-packages)/bundled.pth
	@build/sbom/bin/pip install -q 'cyclonedx-bom>=7'
	build/sbom/bin/cyclonedx-py environment --output-reproducible -o dist/kokoro-live-$(VERSION_HERE).cdx.json build/installed

machines: $(VENV)/.installed-dev
	$(BIN)/python -m tests.machines

release:
	@python3 deploy/release.py '$(VERSION)'

clean:
	rm -rf $(VENV) build dist kokoro_live/bundled
