"""A server that starts without a model fetches it, and goes over to it without a listener noticing."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.file_server import FileServer, Handler, file_server, serve
from tests.system.oracle import samples_of, sentences
from tests.system.published_model import publish
from tests.system.server import DEADLINE, Server, server
from tests.system.shared import SharedServer


def fetching(manifest: Path, models: Path) -> tuple[str, ...]:
    return ("--no-offline", "--manifest", str(manifest), "--model-dir", str(models))


def held_back(release: threading.Event) -> Callable[[Handler], None]:
    """Answer only when `release` is set."""

    def act(handler: Handler) -> None:
        assert release.wait(DEADLINE)
        serve(handler)

    return act


def speaks_kokoro(started: Server) -> None:
    assert "kokoro (model.onnx" in started.announced()
    status, ready = started.get("/ready")
    assert (status, ready["engine"]) == (200, "kokoro")
    got = np.frombuffer(started.hear(input="Now with a model.", response_format="pcm"), "<i2")
    assert np.array_equal(got, samples_of("Now with a model."))


def test_espeak_speaks_at_once_and_kokoro_when_it_has_come(tmp_path: Path) -> None:
    release = threading.Event()
    with file_server() as files:
        manifest = publish(files, tmp_path / "published")
        files.script.append(held_back(release))
        with server(*fetching(manifest, tmp_path / "models")) as started:
            assert "espeak-ng" in started.announcement
            text = sentences(24)
            whole = started.hear(input=text, response_format="pcm")
            stream = started.speak(input=text, response_format="pcm")
            heard = stream.read(4800)
            release.set()
            old = started.child("worker")
            speaks_kokoro(started)
            assert heard + stream.read() == whole, "the stream kept its voice to its end"
            started.logs(r"worker\[1\] has finished")
            assert not old.is_running()
            assert not started.children("fetcher")


def test_what_cannot_be_fetched_leaves_espeak_speaking_and_says_why(tmp_path: Path) -> None:
    with file_server() as files:
        manifest = publish(files, tmp_path / "published")
        files.files["/model.onnx"] = files.files["/model.onnx"][::-1]  # of the right size, with the wrong hash
        with server(*fetching(manifest, tmp_path / "models")) as started:
            started.logs("the model was not fetched: .*model.onnx")
            started.hear(input="Still speaking.", response_format="pcm")
            assert started.get("/ready")[1]["engine"] == "espeak-ng"
        assert not [path for path in (tmp_path / "models").iterdir() if path.suffix in (".onnx", ".bin")]


def test_a_server_that_is_to_stay_offline_asks_nobody(plain: SharedServer, unreachable_models: FileServer) -> None:
    started = plain.calm()
    started.hear(input="Offline.", response_format="pcm")
    assert not started.children("fetcher")
    assert not unreachable_models.requests
