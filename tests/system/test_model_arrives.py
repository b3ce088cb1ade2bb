"""A server that starts without a model fetches it, and goes over to it without a listener noticing."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.file_server import FileServer, Handler, file_server, serve
from tests.miniature import make_miniature, make_voices
from tests.system.oracle import samples_of, sentences
from tests.system.server import DEADLINE, Server, server


def publish(on: FileServer, folder: Path) -> Path:
    """Put a miniature model and voices on the file server; the manifest that describes them."""
    folder.mkdir()
    files = [make_miniature(folder / "model.onnx"), make_voices(folder / "voices.bin")]
    entries = []
    for file, what in zip(files, ("model", "voices"), strict=True):
        data = file.read_bytes()
        on.files[f"/{file.name}"] = data
        entries.append(
            {
                "name": file.name,
                "size": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "precision": "fp32",
                "what": what,
                "url": f"{on.url}/{file.name}",
            }
        )
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(entries))
    return manifest


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


def test_a_server_that_is_to_stay_offline_asks_nobody(tmp_path: Path) -> None:
    with file_server() as files:
        manifest = publish(files, tmp_path / "published")
        with server("--offline", *fetching(manifest, tmp_path / "models")[1:]) as started:
            started.hear(input="Offline.", response_format="pcm")
            assert not started.children("fetcher")
        assert not files.requests
