"""Everything that the documents name exists: files, anchors, modules, commands and their options, metrics, settings."""

import importlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import click
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from supervisor.cli import kokoro_live
from tests.rooms import PACKED, PRODUCT

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGES = (*PACKED, "tests", "deploy", "docs")
PATH = re.compile(rf"(?:{'|'.join(PACKAGES)})/[\w./-]*")
MEDIA_TYPES = {"text/event-stream", "text/markdown", "text/plain"}
"""The folder `text` has the name of a kind of them."""
OF_OTHER_PROGRAMS = {"--build-arg", "--add-host", "--time", "--demuxer", "--profile", "--gpus"}
"""Docker's and mpv's."""

documents = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))


def flattened(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from flattened(token.children or [])


@cache
def tokens(document: Path) -> list[Token]:
    return [*flattened(MarkdownIt("commonmark").enable("table").parse(document.read_text()))]


@cache
def anchors(document: Path) -> set[str]:
    """Anchors as GitHub makes them of headings: lower case, punctuation left out, spaces to hyphens."""
    parsed = tokens(document)
    titles = [parsed[at + 1].content for at, token in enumerate(parsed) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def code(document: Path) -> Iterator[str]:
    """Each code span, and each line of a code block with those that continue it."""
    for token in tokens(document):
        if token.type == "code_inline":
            yield token.content
        elif token.type in ("fence", "code_block"):
            yield from token.content.replace("\\\n", " ").splitlines()


def words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def options_named(arguments: list[str]) -> list[str]:
    """Up to a `|`, or to the `--` after which another command's options are."""
    ends = [at for at, word in enumerate(arguments) if word in ("|", "--")]
    named = (re.match(r"--[a-z][a-z0-9-]*", word) for word in arguments[: min(ends, default=None)])
    return [match.group() for match in named if match]


@cache
def options_of_command(*names: str) -> set[str]:
    command: click.Command = kokoro_live
    for name in names:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found, f"kokoro-live has no command {' '.join(names)}"
        command = found
    return {
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    } | {"--help"}


@cache
def help_of_benchmark(module: str) -> str:
    shown, before = io.StringIO(), sys.argv
    sys.argv = [module, "--help"]
    try:
        with redirect_stdout(shown), pytest.raises(SystemExit) as end:
            package = Path(ROOT, *module.split(".")).is_dir()
            importlib.import_module(f"{module}.__main__" if package else module).main()
    finally:
        sys.argv = before
    assert not end.value.code
    return shown.getvalue()


def commands() -> list[tuple[str, ...]]:
    """All commands of kokoro-live, those of its groups too."""
    group = click.Context(kokoro_live)
    return [
        (name, *below)
        for name in kokoro_live.list_commands(group)
        if (command := kokoro_live.get_command(group, name))
        for below in [(), *((inner,) for inner in getattr(command, "commands", {}))]
    ]


@documents
def test_every_link_leads_somewhere(document: Path) -> None:
    wrong = []
    for token in tokens(document):
        address = str(token.attrs.get("href") or token.attrs.get("src") or "")
        if not address or re.match(r"(https?|mailto):", address):
            continue
        name, _, anchor = address.partition("#")
        target = (document.parent / name).resolve() if name else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(address)
    assert not wrong


@documents
def test_every_path_is_there(document: Path) -> None:
    named = {
        path.rstrip(".") for span in code(document) for path in PATH.findall(span.split("::")[0]) if "…" not in span
    }
    beside = {span for span in code(document) if re.fullmatch(r"test_\w+\.py", span)}
    assert not [path for path in named - MEDIA_TYPES if not (ROOT / path).exists()]
    assert not [name for name in beside if not [*(ROOT / "tests").rglob(name)]]


@documents
def test_every_benchmark_and_its_options_exist(document: Path) -> None:
    wrong = []
    for span in code(document):
        for found in re.finditer(r"(?:python -m )?(benchmarks(?:\.\w+)+)(.*)", span):
            module, rest = found.groups()
            place = Path(ROOT, *module.split("."))
            if not (place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()):
                wrong.append(module)
            elif (options := options_named(words(rest))) and (text := help_of_benchmark(module)):
                wrong += [f"{module} {option}" for option in options if not re.search(rf"{option}\b(?!-)", text)]
    assert not wrong


def named_in_code() -> dict[str, set[str]]:
    """Benchmarks that comments, docstrings and messages name, each with the options that follow it there."""
    named: dict[str, set[str]] = {}
    for package in (*PACKED, "deploy"):
        for file in (ROOT / package).rglob("*.py"):
            for module, rest in re.findall(r"python -m (benchmarks(?:\.\w+)+)([^`\n]*)", file.read_text()):
                named.setdefault(module, set()).update(re.findall(r"--[a-z][a-z-]*", rest))
    return named


@pytest.mark.parametrize(("module", "options"), named_in_code().items())
def test_every_benchmark_that_the_code_names_exists(module: str, options: set[str]) -> None:
    place = Path(ROOT, *module.split("."))
    assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()
    text = help_of_benchmark(module) if options else ""
    assert not [option for option in options if not re.search(rf"{option}\b(?!-)", text)]


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda page: page.stem)
def test_a_decision_s_figures_have_a_command_or_a_test(page: Path) -> None:
    figures = re.findall(r"\d\s?(?:ms|s|MB|GB|dB|%|GFLOP)\b|\d\s?%", page.read_text())
    assert not figures or re.search(r"python -m benchmarks|kokoro-live |tests/", page.read_text())


@documents
def test_every_command_takes_the_options_that_it_is_given(document: Path) -> None:
    wrong = []
    for span in code(document):
        for found in re.finditer(r"(?:^|[ /=])kokoro-live ((?:[a-z][a-z-]*)(?:[ ].*)?)$", span):
            arguments = words(found.group(1))
            names = max((name for name in commands() if tuple(arguments[: len(name)]) == name), key=len, default=None)
            if names is None:
                wrong.append(span)
                continue
            known = options_of_command(*names)
            wrong += [f"{' '.join(names)} {option}" for option in options_named(arguments) if option not in known]
    assert not wrong


@documents
def test_every_option_belongs_to_some_command(document: Path) -> None:
    known = {option for names in commands() for option in options_of_command(*names)} | OF_OTHER_PROGRAMS
    named = {option for span in code(document) if span.startswith("--") for option in options_named(words(span))}
    assert not named - known


@documents
def test_every_variable_is_a_setting(document: Path) -> None:
    settings = {option.removeprefix("--").replace("-", "_").upper() for option in options_of_command("serve")}
    clients = {"URL", "API_KEY"}
    named = re.findall(r"(?<!_)KOKORO_LIVE_([A-Z_]*[A-Z])", document.read_text())
    assert not {*named} - settings - clients


@cache
def strings_of_source() -> frozenset[str]:
    """Texts between quotation marks, in the packages that count events, that look like names of metrics."""
    files = (file for package in PRODUCT for file in (ROOT / package).rglob("*.py"))
    return frozenset(name for file in files for name in re.findall(r'(?<=")[a-z][a-z0-9_]*(?=")', file.read_text()))


@documents
def test_every_metric_is_counted(document: Path) -> None:
    """Those of `frontend.monitoring.readings` are written without the prefix there."""
    named = set(re.findall(r"kokoro_live_([a-z][a-z0-9_]*[a-z0-9])", document.read_text()))
    assert not [name for name in named if not {f"kokoro_live_{name}", name} & strings_of_source()]


def test_every_setting_of_serve_is_on_the_page_of_settings() -> None:
    """Once. Switches of normalisation are there together."""
    page = ROOT / "docs" / "settings.md"
    named = [option for span in code(page) if span.startswith("--") for option in options_named(words(span))]
    serve = kokoro_live.get_command(click.Context(kokoro_live), "serve")
    assert serve
    flags = {parameter.opts[0] for parameter in serve.params if parameter.opts[0].startswith("--")}
    wanted = {flag for flag in flags if not flag.startswith("--normalize-")}
    assert not wanted - set(named), "name it in docs/settings.md"
    twice = {option for option in named if named.count(option) > 1} - {"--max-streams"}
    assert not twice


def test_every_test_that_ci_names_is_there() -> None:
    steps = (ROOT / ".ci" / "run").read_text().replace("\\\n", " ")
    named = [part for part in steps.split() if part.startswith("tests/")]
    expanded = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {' '.join(named)}"], capture_output=True, text=True, check=True
    )
    assert not [path for path in expanded.stdout.split() if not (ROOT / path).exists()]
