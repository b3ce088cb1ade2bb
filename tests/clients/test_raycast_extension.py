"""The Raycast extension: built, checked, and its commands against a real server with a recording sound card.

It was never run in Raycast. The tests are slow because they install the libraries (110 MB); `.ci/run` runs them.
"""

import json
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shm.audio import SAMPLE_RATE
from tests.clients.raycast_keys import EXTENSION, Keys, installed, keys, run, titles
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.server import Server, server
from tests.system.sound_card import Recording, SoundCard, audible, needs_pulseaudio, sound_card, whole
from tests.system.test_player import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm isn't installed"),
]

MANIFEST = json.loads((EXTENSION / "package.json").read_text())
START, CHECK = "kokoro-live install-service --now", "kokoro-live doctor"


@pytest.fixture(scope="module")
def folder() -> Path:
    found = installed()
    run(found, "tests/build.mjs")
    return found


@pytest.fixture(scope="module")
def card() -> Iterator[SoundCard]:
    with sound_card() as found:
        yield found


@pytest.fixture(scope="module")
def espeak(card: SoundCard) -> Iterator[Server]:
    with server("--engine", "espeak", environment=card.environment) as found:
        yield found


@pytest.fixture
def user(folder: Path, espeak: Server) -> Iterator[Keys]:
    with keys(folder, f"http://127.0.0.1:{espeak.port}") as found:
        yield found
    espeak.post("/v1/play/stop", {})


@pytest.fixture
def recording(card: SoundCard) -> Iterator[Recording]:
    found = card.record()
    found.silence()  # what the last test played has faded
    yield found
    found.close()


def playing(state: dict[str, Any]) -> bool:
    return bool(state["state"] == "playing")


def test_it_is_built_typed_and_linted(folder: Path) -> None:
    programs = "node_modules/.bin"
    assert "built extension successfully" in run(folder, f"{programs}/ray", "build", "-o", "dist/extension")
    run(folder, f"{programs}/tsc", "--noEmit")
    run(folder, f"{programs}/eslint", "src", "tests", "--max-warnings=0")
    run(folder, f"{programs}/prettier", "--check", ".")


def test_no_lock_file_names_a_registry() -> None:
    assert '"resolved"' not in (EXTENSION / "package-lock.json").read_text()


def test_the_manifest_keeps_the_stores_rules() -> None:
    header = (EXTENSION / "assets" / MANIFEST["icon"]).read_bytes()[:24]
    assert header.startswith(b"\x89PNG") and struct.unpack(">II", header[16:]) == (512, 512)
    assert MANIFEST["license"] == "MIT" and "MIT License" in (EXTENSION / "LICENSE").read_text()
    assert MANIFEST["platforms"] == ["macOS"] and 0 < len(MANIFEST["description"]) < 120
    assert {*MANIFEST["categories"]} <= {"Media", "Productivity"}
    for command in MANIFEST["commands"]:
        assert [*(EXTENSION / "src").glob(f"{command['name']}.ts*")], command["name"]
        assert command["title"] == command["title"].title().replace(" Or ", " or ").replace(" As ", " as ")
    assert all((EXTENSION / "src" / "tools" / f"{tool['name']}.ts").exists() for tool in MANIFEST["tools"])
    assert "## [Initial Version] - {PR_MERGE_DATE}" in (EXTENSION / "CHANGELOG.md").read_text()
    assert (EXTENSION / "metadata").is_dir()
    pinned = {**MANIFEST["dependencies"], **MANIFEST["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in pinned.values())


@needs_pulseaudio
def test_a_press_speaks_and_a_second_one_is_silence(user: Keys, espeak: Server, recording: Recording) -> None:
    selected = "This sentence is selected in some window. " * 10
    first = user.press("speak-selection", selection=selected)
    assert (first["huds"], first["toasts"], first["calls"]) == (["Speaking"], [], ["POST /v1/play"])
    recording.wait_for(lambda samples: audible(samples).size > SAMPLE_RATE)
    second = user.press("speak-selection")
    mark = len(recording)
    (call,) = second["calls"]
    assert second["huds"] == ["Stopped"] and call.startswith("DELETE /v1/play/play-")
    after = recording.wait_for(lambda samples: len(samples) > SAMPLE_RATE, mark)
    assert audible(after[SAMPLE_RATE // 10 :]).size == 0
    assert second["launched"] == ["now-speaking background"], "the menu bar shows it"
    third = user.press("speak-selection")
    assert third["huds"] == ["Speaking"], "the key speaks again"


@needs_pulseaudio
def test_each_sample_of_a_long_selection_sounds_once(
    folder: Path, card: SoundCard, recording: Recording, tmp_path: Path
) -> None:
    text = sentences(12)
    with (
        server(
            *miniature_arguments(tmp_path), environment=card.environment | {"KOKORO_LIVE_PLAY_BUFFER_MS": "800"}
        ) as it,
        keys(folder, f"http://127.0.0.1:{it.port}") as reader,
    ):
        start = recording.silence()  # the sound card still had the end of another test's text
        assert reader.press("speak-selection", selection=text)["huds"] == ["Speaking"]
        recorded = recording.quiet(2 * SAMPLE_RATE, start)
    assert whole(recorded, samples_of(text, numbered=True)) is not None


@needs_pulseaudio
def test_other_programs_texts_stay(user: Keys, espeak: Server) -> None:
    espeak.post("/v1/play", {"input": "An agent says this. " * 20, "title": "agent"})
    queued = user.press("speak-selection", selection="Mine.", preferences=preferences(espeak, onBusy="queue"))
    assert queued["huds"] == ["Queued behind 1"]
    assert user.press("speak-selection")["huds"] == ["Stopped"]
    state = espeak.get("/v1/play")[1]
    assert (state["title"], state["queue"]) == ("agent", [])


@needs_pulseaudio
def test_nothing_selected_is_the_clipboard_or_a_stop(user: Keys, espeak: Server) -> None:
    assert user.press("speak-selection")["huds"] == ["Select or copy a text first"]
    assert user.press("speak-clipboard")["huds"] == ["There is no text in the clipboard"]
    long = "Copied before. " * 30
    assert user.press("speak-selection", clipboard=long)["huds"] == ["Speaking"]
    wait_until(espeak, playing)
    assert user.press("speak-selection", clipboard="Copied since.")["huds"] == ["Stopped"]
    assert user.press("speak-clipboard")["huds"] == ["Speaking"]
    assert espeak.get("/v1/play")[1]["source"] == "Raycast"


@needs_pulseaudio
def test_each_control_is_one_request(user: Keys, espeak: Server) -> None:
    for command in ("pause-or-resume", "skip-sentence", "faster", "slower"):
        assert user.press(command)["huds"] == ["Nothing is being spoken"]
    user.press("speak-selection", selection="One is a sentence. Two is another. Three is the last one. " * 5)
    wait_until(espeak, playing)
    for command, verb, told in (
        ("pause-or-resume", "toggle", "Paused"),
        ("skip-sentence", "skip", "Two is another."),
        ("faster", "faster", "1.25×"),
        ("slower", "slower", "1×"),
        ("pause-or-resume", "toggle", "Resumed"),
        ("stop", "stop", "Stopped"),
    ):
        found = user.press(command)
        if verb == "skip" and found["huds"] == ["Skipped"]:
            found["huds"] = [told]  # the next sentence's words had not come yet
        assert (found["huds"], found["calls"], found["toasts"]) == ([told], [f"POST /v1/play/{verb}"], [])


@needs_pulseaudio
def test_voices_are_listed_previewed_and_chosen(user: Keys, espeak: Server) -> None:
    known = [voice["id"] for voice in espeak.get("/v1/audio/voices")[1]["voices"]]
    shown = user.show("voices")
    assert sorted(titles(shown["view"], "List.Item")) == sorted(known)
    preview = user.act("Preview", known[1])
    assert preview["calls"] == ["POST /v1/play"] and espeak.get("/v1/play")[1]["voice"] == known[1]
    chosen = user.act("Use This Voice", known[1])
    assert [toast["title"] for toast in chosen["toasts"]] == [f"{known[1]} will speak"]
    user.press("speak-selection", selection="With the voice that was chosen. " * 5)
    assert espeak.get("/v1/play")[1]["voice"] == known[1]
    user.show("voices", preferences=preferences(espeak, voice=known[0]))
    assert user.act("Use This Voice", known[1])["toasts"][0]["title"] == f"The preferences name {known[0]}"
    user.press("speak-selection", selection="With the voice of the preferences. " * 5)
    assert espeak.get("/v1/play")[1]["voice"] == known[0]


@needs_pulseaudio
def test_the_form_speaks(user: Keys, espeak: Server) -> None:
    values = {"title": "Letter", "voice": "", "speed": "1.5", "onBusy": "interrupt"}
    user.show("speak-form")
    assert user.submit(text=" ", **values)["calls"] == []
    done = user.submit(text="A letter to read. " * 10, **values)
    assert (done["calls"], done["popped"]) == (["POST /v1/play"], True)
    state = espeak.get("/v1/play")[1]
    assert (state["title"], state["speed"]) == ("Letter", 1.5)


@needs_pulseaudio
def test_the_menu_bar_shows_and_controls(user: Keys, espeak: Server) -> None:
    assert user.show("now-speaking", launchType="background")["view"] is None, "nothing is spoken"
    user.press("speak-selection", selection="Shown in the menu bar. And this too. " * 5)
    espeak.post("/v1/play", {"input": "Later.", "title": "Later", "on_busy": "queue"})
    wait_until(espeak, playing)
    espeak.post("/v1/play/pause", {})
    shown = user.show("now-speaking")
    assert shown["calls"] == ["GET /v1/play"] and shown["view"]["props"]["title"] == "Shown in the menu bar."
    assert re.match(r"0:\d\d of 0:\d\d · 1×", titles(shown["view"], "MenuBarExtra.Section")[0])
    items = titles(shown["view"], "MenuBarExtra.Item")
    assert items[:2] == ["Shown in the menu bar.", "Resume"] and "Later" in items
    assert [call.partition("/play-")[0] for call in user.act("Later")["calls"]] == ["DELETE /v1/play"]
    assert espeak.get("/v1/play")[1]["queue"] == []
    assert user.act("Stop")["calls"] == ["POST /v1/play/stop"]


def test_a_text_is_saved(user: Keys, tmp_path: Path) -> None:
    shown = user.show("save-as-file", selection="Hello, to be saved.")
    assert not shown["toasts"]
    values = {"text": "Hello, to be saved.", "voice": "", "speed": "", "format": "wav", "folder": [str(tmp_path)]}
    for name in ("Hello to be saved.wav", "Hello to be saved 2.wav"):
        done = user.submit(**values)
        assert (done["calls"], done["toasts"][0]["title"]) == (["POST /v1/audio/speech"], "Saved")
        assert (tmp_path / name).read_bytes().startswith(b"RIFF")
        user.show("save-as-file")


def test_the_benchmark_shows_both_ways_and_plays_nothing(user: Keys) -> None:
    shown = user.show("benchmark")
    assert shown["calls"].count("POST /v1/audio/speech") == 10 and not shown["toasts"]
    rows = re.findall(r"\| (\d+) \| (\d+) \|", shown["view"]["props"]["markdown"])
    (streamed_first, streamed_last), (clip_first, clip_last) = ((int(a), int(b)) for a, b in rows)
    assert streamed_first <= streamed_last and clip_first <= clip_last
    assert user.act("Measure Again")["calls"].count("POST /v1/audio/speech") == 10


@needs_pulseaudio
def test_the_ai_tool_waits_for_its_turn(user: Keys, espeak: Server) -> None:
    assert user.tool(text="The first answer. " * 20)["result"] == "The text is being spoken."
    assert "after 1" in user.tool(text="The second answer.", title="Second")["result"]
    assert [each["title"] for each in espeak.get("/v1/play")[1]["queue"]] == ["Second"]
    assert "nobody" in user.tool(text="Hello.", voice="nobody")["error"], "the model is told"


def test_a_missing_server_is_one_toast(folder: Path) -> None:
    with keys(folder, "http://127.0.0.1:9") as user:
        for command in ("speak-selection", "stop", "faster"):
            done = user.press(command, selection="Hello.")
            (toast,) = done["toasts"]
            assert (toast["title"], START in toast["message"], done["huds"]) == ("kokoro-live is not running", True, [])
            assert toast["primaryAction"] == {"title": "Copy Command"}
        assert len(user.show("voices")["toasts"]) == 1
        assert not user.show("now-speaking", launchType="background")["toasts"], "nobody has asked"


def test_a_wrong_key_is_one_toast_and_the_right_one_speaks(folder: Path) -> None:
    with (
        server("--engine", "espeak", "--api-keys", "sesame") as it,
        keys(folder, f"http://127.0.0.1:{it.port}") as user,
    ):
        for key in ("", "wrong"):
            (toast,) = user.press("stop", preferences=preferences(it, key=key))["toasts"]
            assert toast["title"] == "The server wants another API key" and CHECK in toast["message"]
        assert user.press("stop", preferences=preferences(it, key="sesame"))["huds"] == ["Stopped"]


def preferences(of: Server, **changed: str) -> dict[str, str]:
    return {"address": f"http://127.0.0.1:{of.port}", "speed": "1", "onBusy": "interrupt", **changed}
