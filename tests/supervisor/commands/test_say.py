"""`kokoro-live say`: to a file, a pipe or a player, through a server or without one."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
import threading
import wave
from pathlib import Path

import numpy as np
import psutil
import pytest

from client.play import NOTHING
from frontend.contract.errors import Broken, Unspeakable
from frontend.contract.request import Urgency
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import FakeSpeaker, serving, speech
from tests.frontend.served import served
from tests.miniature import make_miniature, make_voices
from tests.supervisor.commands.saying import SAY, TEXT, outcome, player, run, started
from tests.system.oracle import samples_of

MORE_THAN_BUFFERS_HOLD = 5
"""Steps of 2 million samples: when the server has sent them, the client has read most, so it writes already."""


@pytest.fixture(scope="module")
def miniature(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    make_miniature(folder / "model.onnx")
    make_voices(folder / "voices.bin")
    return folder


@pytest.fixture
def model(miniature, monkeypatch) -> Path:
    """A folder with a miniature model, which is the one that speaks where no server does."""
    monkeypatch.setenv("KOKORO_LIVE_MODEL_DIR", str(miniature))
    return miniature


@pytest.fixture
def spoken(model: Path) -> bytes:
    return samples_of(TEXT).tobytes()


def test_a_wav_file_has_exact_sizes(tmp_path, spoken):
    result = run(TEXT, "-o", tmp_path / "x.wav")
    assert (result.exit_code, result.output) == (0, "")
    with wave.open(str(tmp_path / "x.wav")) as audio:
        assert audio.getparams()[:4] == (1, 2, 24_000, len(spoken) // 2)
        assert audio.readframes(audio.getnframes()) == spoken
    assert (tmp_path / "x.wav").stat().st_size == 44 + len(spoken)
    assert [path.name for path in tmp_path.iterdir()] == ["x.wav"]


@pytest.mark.parametrize("name", ["x.pcm", "x.RAW"])
def test_bare_samples(tmp_path, spoken, name):
    assert run(*TEXT.split(), "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / name).read_bytes() == spoken


def test_a_text_from_standard_input_and_samples_on_standard_output(spoken):
    assert run("-", "-o", "-", text=TEXT).stdout_bytes == spoken
    by_espeak = ["-o", "-", "--engine", "espeak"]
    done = subprocess.run([*SAY, *by_espeak], input=TEXT.encode(), capture_output=True, check=True)
    assert done.stdout == run(TEXT, *by_espeak).stdout_bytes != b""


def test_a_reader_who_leaves_ends_it_as_it_ends_cat():
    text = "A sentence that is said again and again. " * 300
    with subprocess.Popen(
        [*SAY, text, "-o", "-", "--engine", "espeak"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert len(process.stdout.read(100)) == 100
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == -signal.SIGPIPE


def test_a_file_keeps_its_permissions_to_the_umask_and_a_link_stays_a_link(tmp_path, model):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.wav").symlink_to(tmp_path / "there" / "real.wav")
    before = os.umask(0o027)
    try:
        assert run("Hello.", "-o", tmp_path / "link.wav").exit_code == 0
    finally:
        os.umask(before)
    assert (tmp_path / "link.wav").is_symlink()
    assert (tmp_path / "there" / "real.wav").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("given", ["option", "variable", "config"])
def test_the_lexicon_is_obeyed_without_a_server(tmp_path, model, monkeypatch, given):
    lexicon, config = tmp_path / "lexicon.tsv", tmp_path / "config.toml"
    lexicon.write_text("nginx\tengine x\n")
    config.write_text(f"lexicon = '{lexicon}'\n")
    arguments = {"option": ("--lexicon", lexicon), "config": ("--config", config)}.get(given, ())
    assert run("engine x.", "-o", tmp_path / "expected.wav").exit_code == 0
    if given == "variable":
        monkeypatch.setenv("KOKORO_LIVE_LEXICON", str(lexicon))
    assert run("nginx.", "-o", tmp_path / "made.wav", *arguments).exit_code == 0
    assert (tmp_path / "made.wav").read_bytes() == (tmp_path / "expected.wav").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["...", "-o", "x.wav"], 1, "There is nothing in the text that can be spoken."),
        (["Hello.", "-o", "folder.wav"], 1, "isn't a regular file"),
        (["Hello.", "-o", "x.wav", "--engine", "kokoro"], 1, "kokoro-live models fetch"),
        (["Hello.", "-o", "x.wav", "--subtitles", "none/x.srt"], 1, "there is no folder"),
        (["...", "-o", "x.wav", "--subtitles", "x.srt"], 1, "There is nothing in the text that can be spoken."),
        (["Hello.", "-o", "x.wav", "--speed", "nan"], 2, "not from 0.25 to 5"),
        (["Hello.", "-o", "x.wav", "--threads", "-1"], 2, "threads must be 0"),
        (["Hello.", "-o", "x.wav", "--local", "--url", "http://a"], 2, "--local is about speech in this process"),
        (["Hello.", "-o", "x.wav", "--model-dir", ".", "--server"], 2, "--model-dir is about speech in this process"),
        (["Hello.", "-o", "x.wav", "--lexicon", "none.tsv"], 2, "lexicon: there is no file none.tsv"),
        (["Hello.", "--no-mixed-languages", "--url", "a"], 2, "--mixed-languages is about speech in this process"),
    ],
)
def test_refusals_leave_no_file(tmp_path, monkeypatch, arguments, code, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KOKORO_LIVE_ENGINE", "espeak")
    monkeypatch.setenv("KOKORO_LIVE_MODEL_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("KOKORO_LIVE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "folder.wav").mkdir()
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert says in " ".join(result.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["folder.wav"]


def test_a_text_that_isnt_utf8(tmp_path):
    assert "isn't UTF-8" in run("-o", tmp_path / "x.wav", text=b"\xff\xfe").stderr
    assert "isn't UTF-8" in run("-o", tmp_path / "x.wav", os.fsdecode(b"\xff")).stderr


def test_what_could_not_be_spoken_is_told(tmp_path, model):
    result = run("Hello \ue000\ue000 there.", "-o", tmp_path / "x.wav")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Not spoken, because there is no sound for it: '\\ue000' (2)" in result.stderr


def test_a_config_file_for_the_server_is_good_for_this_too(tmp_path, model):
    (tmp_path / "config.toml").write_text('host = "127.0.0.1"\nrings = 4\nengine = "espeak"\noffline = true\n')
    result = run("Hello.", "-o", tmp_path / "x.pcm", "--config", tmp_path / "config.toml")
    assert result.exit_code == 0
    by_miniature = run("Hello.", "-o", tmp_path / "y.pcm")
    assert by_miniature.exit_code == 0
    assert (tmp_path / "x.pcm").read_bytes() != (tmp_path / "y.pcm").read_bytes()


# -- playing


def test_without_a_file_it_is_played(tmp_path, monkeypatch, spoken):
    player(tmp_path, monkeypatch, f'echo "$@" > {tmp_path}/arguments; exec /bin/cat > {tmp_path}/heard')
    result = run(TEXT)
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "heard").read_bytes() == spoken
    assert (tmp_path / "arguments").read_text() == "-q -t raw -f S16_LE -c 1 -r 24000 -\n"


def test_a_player_that_is_quit_is_no_failure_and_one_that_fails_is(tmp_path, monkeypatch):
    text = "A sentence that is said again and again. " * 300
    player(tmp_path, monkeypatch, "exit 0")
    assert run(text, "--engine", "espeak").exit_code == 0
    player(tmp_path, monkeypatch, "exit 3")
    result = run(text, "--engine", "espeak")
    assert result.exit_code == 1
    assert f"{tmp_path}/aplay failed with status 3" in result.stderr


@pytest.mark.parametrize(
    ("status", "said", "told"),
    [
        (0, "ALSA lib confmisc.c:855: cannot find card '0'\nNo more tries, audio open failed", "audio open failed"),
        (1, "play FAIL sox: Sorry, there is no default audio device configured", "no default audio device configured"),
        (1, "aplay: main:850: audio open error: No such file or directory", "audio open error"),
    ],
)
def test_a_player_without_a_sound_card_is_one_line_and_a_failure(tmp_path, monkeypatch, status, said, told):
    """The exit status is an error, though ffplay exits with 0 all the same."""
    (tmp_path / "said").write_text(said + "\n")
    player(tmp_path, monkeypatch, f"/bin/cat {tmp_path}/said >&2\nexit {status}")
    done = run("Hello.", "--engine", "espeak")
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert told in line and "-o FILE.wav" in line and "ALSA lib" not in line


def test_a_player_that_only_warns_is_no_failure(tmp_path, monkeypatch):
    player(tmp_path, monkeypatch, "echo underrun >&2\n/bin/cat > /dev/null")
    assert run("Hello.", "--engine", "espeak").exit_code == 0


def test_without_a_player(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run("Hello.", "--engine", "espeak")
    assert result.exit_code == 1
    assert "ffplay, mpv, play, aplay, paplay" in result.stderr and "-o FILE.wav" in result.stderr


# -- through a server


def test_a_server_is_given_what_was_asked(tmp_path):
    audio = [speech(5000), speech(333)]
    speaker = FakeSpeaker(*audio)
    with served(serving(speaker)) as server:
        arguments = ["--voice", "af_bella(2)+af_heart", "--lang", "en-gb", "--speed", "1.5", "--url", server.url]
        assert outcome("-o", tmp_path / "x.wav", *arguments, text=TEXT) == (0, b"", "")
        assert outcome(TEXT, "-o", "-", "--url", server.url + "/")[1] == np.concatenate(audio).tobytes()
    with wave.open(str(tmp_path / "x.wav")) as file:
        assert file.readframes(file.getnframes()) == np.concatenate(audio).tobytes()
        assert file.getnframes() == 5333
    [asked, plain] = speaker.opened
    assert (asked.text, asked.language, asked.speed) == (TEXT, "en-gb", 1.5)
    assert [name for name, _ in asked.voice] == ["af_bella", "af_heart"]
    assert {asked.urgency, plain.urgency} == {Urgency.WHOLE}, "nobody hears a file while it is made"
    assert (plain.voice, plain.language, plain.speed) == ((("af_heart", 1.0),), "en-us", 1.0)


@pytest.mark.parametrize(("rest", "code"), [(b"ond.", 0), (b"\xff.", 1)])
async def test_a_text_from_standard_input_is_spoken_while_it_is_written(rest, code):
    speaker = FakeSpeaker(speech(100), sounds := asyncio.Event())
    async with serving(speaker) as server:
        process = await started("-", "-o", "-", "--url", server.url)
        process.stdin.write(b"The first sentence is whole. The sec")
        assert await process.stdout.readexactly(200) == speech(100).tobytes()
        assert [asked.text for asked in speaker.opened] == ["The first sentence is whole."]
        process.stdin.write(rest)
        process.stdin.close()
        if code:
            assert b"Error: The text isn't UTF-8" in (await process.communicate())[1]
        sounds.set()
        assert await process.wait() == code


@pytest.mark.parametrize("output", [("-o", "-"), ()])
def test_nothing_on_standard_input_is_nothing_to_speak(output):
    with served(serving(FakeSpeaker())) as server:
        assert outcome("-", *output, "--url", server.url, text=" \n") == (1, b"", f"Error: {NOTHING}\n")


async def test_samples_are_passed_on_as_they_come():
    rest = asyncio.Event()
    async with serving(FakeSpeaker(speech(100), rest, speech(200))) as server:
        process = await started(TEXT, "-o", "-", "--url", server.url)
        assert await process.stdout.readexactly(200) == speech(100).tobytes()
        rest.set()
        assert await process.communicate() == (speech(200).tobytes(), b"")


def test_a_running_server_is_found_unless_an_engine_is_asked_for(tmp_path, monkeypatch):
    speaker = FakeSpeaker(speech(100))
    with served(serving(speaker)) as server:
        monkeypatch.setenv("KOKORO_LIVE_PORT", str(server.port))
        monkeypatch.setenv("KOKORO_LIVE_ENGINE", "espeak")
        assert outcome("Hello.", "-o", tmp_path / "server.pcm")[0] == 0
        assert outcome("Hello.", "-o", tmp_path / "flag.pcm", "--engine", "espeak")[0] == 0
        assert outcome("Hello.", "-o", tmp_path / "local.pcm", "--local")[0] == 0
    assert len(speaker.opened) == 1
    assert (tmp_path / "server.pcm").read_bytes() == speech(100).tobytes()
    assert (tmp_path / "flag.pcm").read_bytes() == (tmp_path / "local.pcm").read_bytes() != b""


@pytest.mark.parametrize("steps", [[Broken("gone")], [speech(9000), Broken("gone")], []])
def test_a_stream_that_is_cut_leaves_what_was_there_before(tmp_path, steps):
    (tmp_path / "x.wav").write_bytes(b"older")
    with served(serving(FakeSpeaker(*steps))) as server:
        code, out, error = outcome(TEXT, "-o", tmp_path / "x.wav", "--url", server.url)
    assert (code, out) == (1, b"")
    assert "Error: " in error and "Traceback" not in error
    if len(steps) > 1:
        assert "the server cut the stream" in error
    assert [path.name for path in tmp_path.iterdir()] == ["x.wav"]
    assert (tmp_path / "x.wav").read_bytes() == b"older"


def test_a_server_that_refuses_is_quoted(tmp_path, monkeypatch):
    monkeypatch.setattr("client.answers.STARTING", 3.0)
    speaker = FakeSpeaker(engine=None)
    with served(serving(speaker)) as server:
        code, _, error = outcome(TEXT, "-o", tmp_path / "x.wav", "--url", server.url)
        assert (code, error) == (1, "waiting for the server, 3 s: the model is loading\nError: the model is loading\n")
    speaker = FakeSpeaker()
    speaker.refusal = Unspeakable("that has no sound")
    with served(serving(speaker)) as server:
        spoken = outcome(TEXT, "-o", tmp_path / "x.wav", "--url", server.url)
        assert spoken == (1, b"", "Error: that has no sound\n")
        elsewhere = outcome(TEXT, "-o", tmp_path / "x.wav", "--url", f"{server.url}/elsewhere")
        assert "There is no POST /elsewhere/v1/audio/speech here" in elsewhere[2]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_leaves_no_half_file(tmp_path, number):
    sent = asyncio.Event()
    never = asyncio.Event()
    steps = [*[speech(2_000_000)] * MORE_THAN_BUFFERS_HOLD, sent.set, never]
    async with serving(FakeSpeaker(*steps), FrontSettings(chunk_ms=10_000)) as server:
        process = await started(TEXT, "-o", tmp_path / "x.wav", "--url", server.url)
        await sent.wait()
        assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
        process.send_signal(number)
        out, error = await process.communicate()
    assert (process.returncode, out) == (-number, b"")
    assert error.decode().split(":")[0] == "\nStopped. Nothing was written", "what is kept is told"
    assert list(tmp_path.iterdir()) == []


async def test_a_signal_ends_the_player_too(tmp_path, monkeypatch):
    player(tmp_path, monkeypatch, f"echo $$ > {tmp_path}/pid; exec /bin/cat > /dev/null")
    sent = asyncio.Event()
    steps = [*[speech(2_000_000)] * MORE_THAN_BUFFERS_HOLD, sent.set, asyncio.Event()]
    async with serving(FakeSpeaker(*steps), FrontSettings(chunk_ms=10_000)) as server:
        process = await started(TEXT, "--url", server.url)
        await sent.wait()
        pid = int((tmp_path / "pid").read_text())
        assert psutil.pid_exists(pid)
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert not psutil.pid_exists(pid)


# -- alongside the audio


@pytest.mark.parametrize("times", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_on_a_terminal_a_long_text_has_a_progress_bar_on_standard_error(times):
    terminal, stderr = pty.openpty()
    shown = bytearray()

    def read() -> None:
        try:
            while data := os.read(terminal, 4096):
                shown.extend(data)
        except OSError:
            pass  # Linux's way to say that nobody has the other end any more

    reader = threading.Thread(target=read)
    reader.start()
    command = [*SAY, f"{TEXT} " * times, "-o", "-", "--engine", "espeak"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, check=True)
    os.close(stderr)
    reader.join()
    os.close(terminal)
    assert len(done.stdout) % 2 == 0 and len(done.stdout) > 0
    assert (b"of speech" in shown) == (times > 1)
    assert (b"100%" in shown) == (times > 1)


def test_the_command_is_imported_without_anything_heavy():
    heavy = "{'aiohttp', 'numpy', 'onnxruntime', 'rich', 'misaki', 'asyncio', 'msgspec'}"
    code = f"import sys, supervisor.commands.say; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
