"""`make release` in a temporary clone, whose Makefile does in an instant what takes minutes."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="a release is made in a clone, by git")
ROOT = Path(__file__).parents[2]
MAKEFILE = """\
machines dist sbom:
\t@echo $@ $$(sed -n 's/^version = //p' pyproject.toml | tr -d '"') >> calls
\t@mkdir -p dist && echo $@ > dist/$@.file
\t@test "$(FAILS)" != $@
"""
NEWLINE = b"\n"
PLACES = ("pyproject.toml", "deploy/home-assistant/config.yaml", "CHANGELOG.md")


def git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=clone, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    clone = tmp_path / "clone"
    for name in (*PLACES, "deploy/release.py"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    (clone / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 0.9.0 (unreleased)\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n"
    )
    (clone / "Makefile").write_text(MAKEFILE)
    (clone / ".gitignore").write_text("dist/\ncalls\n")
    git(clone, "init", "-q")
    for name, value in (("user.name", "Tests"), ("user.email", "tests@localhost"), ("commit.gpgsign", "false")):
        git(clone, "config", name, value)
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "All")
    return clone


def released(clone: Path, version: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "deploy/release.py", version]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MAKE"))}
    return subprocess.run(
        command, cwd=clone, env=clean | variables, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )


def test_a_release_checks_writes_builds_and_tags_in_this_order(clone: Path) -> None:
    done = released(clone, "1.2.3")
    assert done.returncode == 0, done.stderr
    calls = (clone / "calls").read_text().split("\n")
    assert calls[0].startswith("machines") and "1.2.3" not in calls[0]
    assert calls[1:] == ["dist 1.2.3", "sbom 1.2.3", ""]
    changes = (clone / "CHANGELOG.md").read_text()
    assert re.match(r"# Changelog\n\n## 1\.2\.3 \(\d{4}-\d\d-\d\d\)\n\n- New\.\n\n## 0\.1\.0 \(2026-01-01\)", changes)
    assert 'version: "1.2.3"' in (clone / PLACES[1]).read_text()
    sums = (clone / "dist" / "SHA256SUMS").read_text()
    assert sums == "".join(
        f"{hashlib.sha256(name.encode() + NEWLINE).hexdigest()}  {name}.file\n" for name in ("dist", "sbom")
    )
    assert git(clone, "describe", "--exact-match").strip() == "v1.2.3" and not git(clone, "status", "--porcelain")


def refused(clone: Path, version: str, word: str, **variables: str) -> None:
    """Nothing is built, no file and no commit is changed."""
    before = git(clone, "status", "--porcelain"), git(clone, "rev-parse", "HEAD"), git(clone, "tag")
    done = released(clone, version, **variables)
    assert done.returncode == 1 and word in done.stderr and "Traceback" not in done.stderr
    assert (git(clone, "status", "--porcelain"), git(clone, "rev-parse", "HEAD"), git(clone, "tag")) == before


def test_no_release_of_an_unclean_tree(clone: Path) -> None:
    (clone / "new.py").touch()
    refused(clone, "1.2.3", "new.py")
    assert not (clone / "calls").exists()


@pytest.mark.parametrize("version", ["", "1.2", "v1.2.3", "1.2.3; true"])
def test_no_release_without_a_version(clone: Path, version: str) -> None:
    refused(clone, version, "is no version")


def test_no_release_twice(clone: Path) -> None:
    git(clone, "tag", "v1.2.3")
    refused(clone, "1.2.3", "already")


def test_no_release_without_a_change(clone: Path) -> None:
    (clone / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n")
    git(clone, "commit", "-qam", "None")
    refused(clone, "1.2.3", "unreleased")


@pytest.mark.parametrize("step", ["machines", "dist", "sbom"])
def test_a_step_that_fails_leaves_the_tree_as_it_was(clone: Path, step: str) -> None:
    refused(clone, "1.2.3", "no release", FAILS=step)


def test_the_real_places_have_one_version_and_the_makefile_the_steps() -> None:
    versions = set()
    for name in PLACES[:2]:
        versions.add(re.search(r'(?m)^version\s*[=:] "(.*)"', (ROOT / name).read_text())[1])  # type: ignore[index]
    assert len(versions) == 1
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"(?m)^{step}:", makefile) for step in ("machines", "dist", "sbom", "release"))


@pytest.mark.skipif(shutil.which("ruby") is None, reason="needs ruby")
def test_the_formula_is_ruby() -> None:
    formula = ROOT / "deploy" / "homebrew" / "kokoro-live.rb"
    assert subprocess.run(["ruby", "-c", formula], capture_output=True, text=True).stdout == "Syntax OK\n"
