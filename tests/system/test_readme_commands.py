"""The commands of README and docs: each runs as it is written, next to a server and in a home of its own."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.books.made_markup import MadeEpub
from tests.system.server import DEADLINE, ROOT, Server, awaited, server
from tests.system.sound_card import SoundCard, needs_pulseaudio
from tests.test_documents import DOCUMENTS

ELSEWHERE = {
    "tune": "tests/supervisor/tuning",
    "dequantize": "tests/supervisor/commands/test_tune_command.py",
    "install-service": "tests/supervisor/startup/test_install_service.py",
    "uninstall-service": "tests/supervisor/startup/test_install_service.py",
    "serve": "tests/system",
}
"""Commands that take minutes, the model in floats, or the user's own session, or that don't end, with the tests that
run them."""

NOVEL = MadeEpub({f"{n}.xhtml": f"<body><h1>Chapter {n}</h1><p>It rains.</p></body>" for n in range(1, 10)})

COVERED = MadeEpub(
    {"1.xhtml": "<body><p>It rains.</p></body>"},
    {"OEBPS/c.png": (ROOT / "docs" / "reader-light.png").read_bytes()},
    manifest='<item id="c" href="c.png" media-type="image/png" properties="cover-image"/>',
)


def written() -> Iterator[str]:
    """Commands in blocks of code, each once, with the lines that continue it."""
    for document in DOCUMENTS:
        for block in re.findall(r"^ *```.*\n((?:.*\n)*?) *```$", document.read_text(), re.MULTILINE):
            command = ""
            for line in block.splitlines():
                line = line if command else line.strip()
                command += re.sub(r"  #.*", "", line if command else line.removeprefix("$ ").removeprefix(".venv/bin/"))
                if not command.startswith(("kokoro-live ", "curl ")):
                    command = ""
                elif command.endswith(("|", "\\")) or command.count("'") % 2:
                    command = command.removesuffix("\\") + " "
                else:
                    yield command.strip()
                    command = ""


LINES = [*dict.fromkeys(written())]


@pytest.fixture(scope="module")
def espeak(card: SoundCard) -> Iterator[Server]:
    with server("--engine", "espeak", environment=card.environment) as started:
        yield started


def job(of: Server) -> str:
    command = ["curl", "-sSF", "file=@-;filename=a.epub", f"http://127.0.0.1:{of.port}/v1/jobs"]
    made = subprocess.run(command, input=COVERED.bytes(), capture_output=True, check=True, timeout=DEADLINE)
    name: str = json.loads(made.stdout)["id"]

    def state() -> str:
        with urlopen(f"http://127.0.0.1:{of.port}/v1/jobs/{name}") as answer:
            found: str = json.load(answer)["state"]
        return found

    awaited(state, lambda found: found == "done")
    return name


@needs_pulseaudio
@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_it_runs_as_it_is_written(line: str, espeak: Server, tmp_path: Path) -> None:
    if line.startswith("kokoro-live ") and (named := line.split()[1]) in ELSEWHERE:
        assert (ROOT / ELSEWHERE[named]).exists()
        return
    if "ffplay" in line and shutil.which("ffplay") is None:
        pytest.skip("NOT TESTED, BECAUSE NOT INSTALLED: ffplay")
    folders = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
    for name in ("book.txt", "novel.txt", "notes.txt"):
        (tmp_path / name).write_text("A short book.")
    (tmp_path / "novel.epub").write_bytes(NOVEL.bytes())
    (tmp_path / "docs").mkdir()
    command = re.sub(r"(localhost|127\.0\.0\.1):8880", rf"\1:{espeak.port}", line)
    if "/ID" in command:
        command = command.replace("/ID", f"/{job(espeak)}")
    # An error's status is curl's too.
    command = command.replace("ffplay", "ffplay -nodisp -autoexit -loglevel error").replace("curl ", "curl --fail ")
    environment = os.environ | folders | {"KOKORO_LIVE_PORT": str(espeak.port), "SDL_AUDIODRIVER": "dummy"}
    environment["PATH"] = f"{ROOT / '.venv' / 'bin'}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    # `doctor` ends with 1 where something is to be mended, which a test's machine may have.
    assert done.returncode in ((0, 1) if "doctor" in command else (0,)), done.stderr
    assert (
        done.stdout
        or done.stderr
        or [*tmp_path.glob("**/*.wav"), *tmp_path.glob("**/*.mp3")]
        or re.search("mcp|play|say notes", command)
    )


def test_all_commands_are_found() -> None:
    assert len(LINES) > 40 and any("ffplay" in line for line in LINES) and any("audioConfig" in line for line in LINES)
