"""Everything that the documents name exists, docs/origin.md's counts hold, constraints.txt pins what is asked for."""

import importlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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

Check = Callable[[Path], Collection[object]]


def of_every_document(check: Check) -> Callable[[], None]:
    """A test that a check finds nothing wrong in any document."""

    def test() -> None:
        assert {str(each.relative_to(ROOT)): wrong for each in DOCUMENTS if (wrong := check(each))} == {}

    return test


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
    group = click.Context(kokoro_live)
    return [
        (name, *below)
        for name in kokoro_live.list_commands(group)
        if (command := kokoro_live.get_command(group, name))
        for below in [(), *((inner,) for inner in getattr(command, "commands", {}))]
    ]


@of_every_document
def test_every_link_leads_somewhere(document: Path) -> list[str]:
    wrong = []
    for token in tokens(document):
        address = str(token.attrs.get("href") or token.attrs.get("src") or "")
        if not address or re.match(r"(https?|mailto):", address):
            continue
        name, _, anchor = address.partition("#")
        target = (document.parent / name).resolve() if name else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(address)
    return wrong


@of_every_document
def test_every_path_is_there(document: Path) -> list[str]:
    named = {
        path.rstrip(".") for span in code(document) for path in PATH.findall(span.split("::")[0]) if "…" not in span
    }
    beside = {span for span in code(document) if re.fullmatch(r"test_\w+\.py", span)}
    missing = [path for path in named - MEDIA_TYPES if not (ROOT / path).exists()]
    return missing + [name for name in beside if not [*(ROOT / "tests").rglob(name)]]


@of_every_document
def test_every_benchmark_and_its_options_exist(document: Path) -> list[str]:
    wrong = []
    for span in code(document):
        for found in re.finditer(r"(?:python -m )?(benchmarks(?:\.\w+)+)(.*)", span):
            module, rest = found.groups()
            place = Path(ROOT, *module.split("."))
            if not (place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()):
                wrong.append(module)
            elif (options := options_named(words(rest))) and (text := help_of_benchmark(module)):
                wrong += [f"{module} {option}" for option in options if not re.search(rf"{option}\b(?!-)", text)]
    return wrong


def named_in_code() -> dict[str, set[str]]:
    """Benchmarks that comments, docstrings and messages name, each with the options that follow it there."""
    named: dict[str, set[str]] = {}
    for package in (*PACKED, "deploy"):
        for file in (ROOT / package).rglob("*.py"):
            for module, rest in re.findall(r"python -m (benchmarks(?:\.\w+)+)([^`\n]*)", file.read_text()):
                named.setdefault(module, set()).update(re.findall(r"--[a-z][a-z-]*", rest))
    return named


def test_every_benchmark_that_the_code_names_exists() -> None:
    wrong = []
    for module, options in named_in_code().items():
        place = Path(ROOT, *module.split("."))
        if not (place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()):
            wrong.append(module)
        text = help_of_benchmark(module) if options else ""
        wrong += [f"{module} {option}" for option in options if not re.search(rf"{option}\b(?!-)", text)]
    assert not wrong


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda page: page.stem)
def test_a_decision_s_figures_have_a_command_or_a_test(page: Path) -> None:
    figures = re.findall(r"\d\s?(?:ms|s|MB|GB|dB|%|GFLOP)\b|\d\s?%", page.read_text())
    assert not figures or re.search(r"python -m benchmarks|kokoro-live |tests/", page.read_text())


@of_every_document
def test_every_command_takes_the_options_that_it_is_given(document: Path) -> list[str]:
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
    return wrong


@of_every_document
def test_every_option_belongs_to_some_command(document: Path) -> set[str]:
    known = {option for names in commands() for option in options_of_command(*names)} | OF_OTHER_PROGRAMS
    named = {option for span in code(document) if span.startswith("--") for option in options_named(words(span))}
    return named - known


@of_every_document
def test_every_variable_is_a_setting(document: Path) -> set[str]:
    settings = {option.removeprefix("--").replace("-", "_").upper() for option in options_of_command("serve")}
    clients = {"URL", "API_KEY"}
    named = re.findall(r"(?<!_)KOKORO_LIVE_([A-Z_]*[A-Z])", document.read_text())
    return {*named} - settings - clients


@cache
def strings_of_source() -> frozenset[str]:
    """Texts between quotation marks, in the packages that count events, that look like names of metrics."""
    files = (file for package in PRODUCT for file in (ROOT / package).rglob("*.py"))
    return frozenset(name for file in files for name in re.findall(r'(?<=")[a-z][a-z0-9_]*(?=")', file.read_text()))


@of_every_document
def test_every_metric_is_counted(document: Path) -> list[str]:
    """Those of `frontend.monitoring.readings` are written without the prefix there."""
    named = set(re.findall(r"kokoro_live_([a-z][a-z0-9_]*[a-z0-9])", document.read_text()))
    return [name for name in named if not {f"kokoro_live_{name}", name} & strings_of_source()]


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


DOCUMENT = ROOT / "docs" / "origin.md"
STATES = ("works", "works in another way", "refused", "half there", "missing", "needs hardware")


class Row(NamedTuple):
    thing: str
    state: str
    where: str


def tables(text: str) -> list[list[str]]:
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows]


HEAD, _, LISTS = DOCUMENT.read_text().partition("\n## ")
ROWS = [Row(*row) for row in tables(LISTS) if row[0] != "thing"]


def test_the_counts_are_those_of_the_rows() -> None:
    counted = Counter(row.state for row in ROWS)
    assert set(counted) <= set(STATES)
    assert {state: int(count) for state, count in tables(HEAD) if count != "things"} == dict(counted)
    good = counted["works"] + counted["works in another way"]
    assert f"are {good} of {len(ROWS)}." in HEAD and f"names {len(ROWS)} things" in HEAD


def test_no_thing_stands_there_twice() -> None:
    assert [thing for thing, count in Counter(row.thing for row in ROWS).items() if count > 1] == []


def test_each_thing_is_shown_somewhere() -> None:
    for row in ROWS:
        check_shown(row)


def check_shown(row: Row) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", row.where)
    for name, anchor in links:
        target = DOCUMENT.parent / name
        assert target.is_file()
        assert not anchor or anchor in anchors(target)
    code = re.findall(r"`([^`]+)`", row.where)
    files = [name for name in code if re.fullmatch(r"[\w./-]+/[\w.-]+\.(py|md)", name)]
    assert not [name for name in files if not (ROOT / name).is_file()]
    named = [name.split()[1] for name in code if name.startswith("kokoro-live ")]
    assert set(named) <= {names[0] for names in commands()}
    modules = [name.split()[2] for name in code if name.startswith("python -m ")]
    assert not [name for name in modules if not (ROOT / f"{name.replace('.', '/')}.py").is_file()]
    if row.state in ("works", "works in another way", "needs hardware"):
        assert links or files or named or modules or row.where.startswith("`/status`")
    if row.state == "refused":
        assert any(name.startswith("decisions/") for name, _ in links)


NOT_PINNED = {"spacy", "ja", "zh", "ray"}
"""Extras that the tests run without."""

LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]

HASHES = (ROOT / "constraints-hashes.txt").read_text()


def pinned(lines: list[str]) -> dict[str, str]:
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def test_every_line_is_a_name_and_a_version() -> None:
    assert [line for line in LINES if not re.fullmatch(r"[\w.-]+==[\w.+!-]+", line)] == []


def test_what_is_asked_for_is_pinned_within_its_bounds() -> None:
    pins = pinned(LINES)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(line for extra in extras.keys() - NOT_PINNED for line in extras[extra])]
    for requirement in map(Requirement, asked):
        version = pins.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is not pinned"
        assert requirement.specifier.contains(version), f"{requirement} is pinned to {version}"


def test_pins_with_hashes_are_those_without_and_all_that_kokoro_needs() -> None:
    """Else: `make hashes`."""
    pins = pinned(re.findall(r"^[\w.-]+==[\w.+!-]+", HASHES, re.MULTILINE))
    assert not pins.items() - pinned(LINES).items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["model"]])
    assert not {canonicalize_name(requirement.name) for requirement in asked} - pins.keys()


def test_every_line_with_hashes_is_a_pin_or_a_hash_and_names_no_host() -> None:
    pin, digest = r"[\w.-]+==[\w.+!-]+( ; [\w =!'\"]+)?", r"    --hash=sha256:[0-9a-f]{64}"
    text = "".join(line for line in HASHES.splitlines(keepends=True) if not line.startswith("#"))
    assert re.fullmatch(rf"({pin}( \\\n{digest})+\n)+", text)
