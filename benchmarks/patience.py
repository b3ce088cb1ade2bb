"""Nobody who can wait is told that there is no room: listeners and files together, and clicks on the words of a page.

    python -m benchmarks.patience [--listeners 7] [--files 4] [--clicks 200] [--seconds 60] [--engine espeak]

A server with the published model, or with espeak-ng. First so many listeners, each with a session of its own, hear a
text at the pace at which it is spoken and wait as the page does; meanwhile `kokoro-live say -o` makes so many files.
Then the page's requests for so many clicks, evenly over the seconds: each comes while the last one is being spoken.
Asked: all files, every listener's whole text, no click refused, and no click without sound unless the next one came.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import wave
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from client.answers import CannotSpeak
from client.blocking import BlockingClient
from kokoro_live import own_command
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from tests.real_model import real_model_file
from tests.system.server import Server, server

SENTENCES = [f"Sentence number {n} is here, and the next one follows it at once." for n in range(1, 60)]
SAY = own_command("say")
DEADLINE = 600.0


@dataclass
class Listener:
    """Hears a text as a player does, and notes how often it had to wait for its beginning."""

    url: str
    text: str
    waits: int = 0
    seconds: float = 0.0
    failure: str = ""

    def hear(self) -> None:
        def tell(reason: str) -> None:
            self.waits += bool(reason)

        client = BlockingClient(self.url, tell, headers={"X-Session": self.text[:40], "Cache-Control": "no-store"})
        began = 0.0
        try:
            with closing(client.speak({"input": self.text})) as pieces:
                for piece in pieces:
                    began = began or time.monotonic()
                    self.seconds += len(piece.pcm) / SAMPLE_BYTES / SAMPLE_RATE
                    time.sleep(max(0.0, self.seconds - 2.0 - (time.monotonic() - began)))
        except CannotSpeak as error:
            self.failure = str(error)


def files_beside_listeners(started: Server, listeners: int, files: int) -> list[str]:
    """Refusals and failures of the run, a line each; empty if all were heard."""
    url, wrong = f"http://127.0.0.1:{started.port}", list[str]()
    BlockingClient(url).ask("POST", "/v1/audio/speech", {"input": "It measures how fast the engine is."}, DEADLINE)
    hearing = [Listener(url, " ".join(SENTENCES[n : n + 12])) for n in range(listeners)]
    threads = [threading.Thread(target=each.hear) for each in hearing]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    with tempfile.TemporaryDirectory() as folder:
        made = [Path(folder, f"{n}.wav") for n in range(files)]
        texts = [" ".join(SENTENCES[20 + n : 28 + n]) for n in range(files)]
        making = [
            subprocess.Popen([*SAY, text, "-o", file, "--url", url], stderr=subprocess.PIPE, text=True)
            for file, text in zip(made, texts, strict=True)
        ]
        for process, file in zip(making, made, strict=True):
            _, error = process.communicate(timeout=DEADLINE)
            if process.returncode or error or not file.exists():
                wrong.append(f"{file.name}: {process.returncode} {error}")
            else:
                with wave.open(str(file)) as audio:
                    print(
                        f"{file.name}: {audio.getnframes() / SAMPLE_RATE:.1f} s after {time.monotonic() - began:.1f} s"
                    )
    for each, thread in zip(hearing, threads, strict=True):
        thread.join(DEADLINE)
        print(f"listener: {each.seconds:.1f} s of speech, {each.waits} waits {each.failure}")
        wrong += [each.failure] if each.failure else []
    return wrong


@dataclass
class Clicks:
    """The page's requests for clicks on words, each in place of the last."""

    port: int
    refused: int = 0
    stopped: int = 0
    heard: int = 0
    first: list[float] = field(default_factory=list)

    def click(self, started: Server, number: int, until: float) -> None:
        """One click, listened to until the next one comes."""
        text = " ".join(SENTENCES[number % 40 :])
        body: dict[str, object] = {
            "input": text,
            "response_format": "pcm",
            "stream_format": "sse",
            "timestamps": "sentence",
        }
        body |= {"user": "page", "on_busy": "interrupt"}
        asked = time.monotonic()
        with closing(started.connect()) as connection, suppress(TimeoutError):
            connection.timeout = max(0.05, until - asked)
            response = connection.speak(body)
            if response.status != 200:
                self.refused += 1
                return
            while line := response.readline():
                if b"speech.audio.delta" in line:
                    self.heard += 1
                    self.first.append(time.monotonic() - asked)
                    break
                if b'"error"' in line:
                    self.stopped += 1
                    return
            while time.monotonic() < until and (line := response.readline()):
                if b'"error"' in line:
                    self.stopped += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listeners", type=int, default=7)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--clicks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--engine", choices=("kokoro", "espeak"), default="kokoro")
    options = parser.parse_args()
    model = ("--engine", "espeak") if options.engine == "espeak" else ("--model", str(real_model_file()))
    with server(*model) as started:
        wrong = files_beside_listeners(started, options.listeners, options.files)
        clicks, every = Clicks(started.port), options.seconds / max(options.clicks, 1)
        began = time.monotonic()
        for number in range(options.clicks):
            clicks.click(started, number, began + (number + 1) * every)
        first = sorted(clicks.first)
        seconds = f"{first[len(first) // 2]:.2f} s to the median's first sound" if first else "none heard"
        print(
            json.dumps({"clicks": options.clicks, "refused": clicks.refused, "stopped": clicks.stopped}),
            f"{clicks.heard} heard before the next, {seconds}",
        )
        wrong += [f"{clicks.refused} clicks refused"] * bool(clicks.refused)
        wrong += [f"{clicks.stopped} clicks stopped"] * bool(clicks.stopped)
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
