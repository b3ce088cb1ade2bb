"""From the key to the sound: a selection through the player, until the sound card plays it.

    python -m benchmarks.press [--presses 10] [--pause 0] [--engine espeak] [--keys] [--written 62]

Three ways take turns, one press each, with texts that were never spoken before: `POST /v1/play` (Raycast's command, the
page), `kokoro-live play TEXT` (a desktop's shortcut, which starts a process), and the same text over HTTP, without a
sound card, as what the server itself takes. The first two end with the first audible sample in what the sound card
plays, which is recorded with 10 ms of delay. A ratio is that of the way's median to HTTP's, in one run. `--pause`:
seconds of silence before each press; the player closes the sound card meanwhile, if they are many. `--engine espeak`,
whose samples cost next to nothing, shows all but the engine's part, on a busy machine too.

Then, as often: from `POST /v1/play` while another text sounds until the new text's first audible sample, which is found
by the samples of the same text over HTTP; and from `POST /v1/play/stop` until the last audible sample.

`--keys` measures a screen reader's instead: from the command to Debian's Speech Dispatcher, whose module we are, until
the first audible sample of a letter, of two words and of a phrase of five to seven, none of which was spoken before but
the letters (the module has them made while nothing is spoken).

`--written` measures the commands that speak what a language model writes at so many tokens a second on their standard
input: from the first token until the first audible sample, for answers whose first sentence ends at the time told.

Needs PulseAudio (apt-get install pulseaudio pulseaudio-utils), and for the keys speech-dispatcher.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import string
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import IO

import numpy as np

from benchmarks.growing_text import tokens
from benchmarks.measuring.evaluation.sentences import answers
from benchmarks.measuring.figures import median, percentile
from benchmarks.measuring.listening import listen
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Table
from benchmarks.measuring.subjects import kokoro_live
from kokoro_live import own_command
from shm.audio import SAMPLE_RATE
from tests.clients.desktop import Desktop
from tests.system.sound_card import QUIET, Recording, SoundCard, audible, sound_card
from worker.settings import WorkerSettings

JSON = "application/json"

KEPT_AFTER = 40.0
"""Seconds after a letter in which the module has the others made."""

STARTS = 2.0
"""Seconds in which a command starts."""

SECOND = " Anything else? That is all there is to it."

OPENINGS = ("The kettle", "My neighbour", "A lantern", "This old clock", "The ferry", "Our gardener", "One of them")
ENDINGS = ("has been on the stove since a quarter past four.", "was there before the rain began, and left after it.")


def selection(number: int) -> str:
    """A text of 11 to 14 words that no other number has."""
    return f"{OPENINGS[number % len(OPENINGS)]} of house {number + 20} {ENDINGS[number % len(ENDINGS)]}"


def posted(port: int, path: str, **body: object) -> None:
    content = json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", content, {"Content-Type": JSON})
    with urllib.request.urlopen(request):
        pass


def heard(recording: Recording, press: Callable[[], object]) -> float:
    """Seconds from the press to the first audible sample in the recording."""
    pressed = recording.silence()
    press()
    found = recording.wait_for(lambda samples: audible(samples).size, pressed)
    return float(audible(found)[0]) / SAMPLE_RATE


def wait_for_sound(recording: Recording, since: int) -> None:
    """Wait until a second of a text has sounded, and does."""
    recording.wait_for(lambda samples: audible(samples).size > SAMPLE_RATE // 3, since)


def stopped(recording: Recording, port: int, text: str) -> float:
    """Seconds from the call to stop until the last audible sample."""
    since = recording.silence()
    posted(port, "/v1/play", input=text)
    wait_for_sound(recording, since)
    pressed = len(recording)
    posted(port, "/v1/play/stop")
    heard = recording.wait_for(lambda samples: len(samples) > SAMPLE_RATE, pressed)
    loud = audible(heard)
    return float(loud[-1] + 1) / SAMPLE_RATE if loud.size else 0.0


def interrupted(recording: Recording, port: int, first: str, second: str) -> float:
    """Seconds from the call with the second text, while the first sounds, until its first audible sample."""
    since = recording.silence()
    posted(port, "/v1/play", input=first)
    wait_for_sound(recording, since)
    pressed = len(recording)
    posted(port, "/v1/play", input=second)
    recording.wait_for(lambda samples: audible(samples[-QUIET:]).size == 0 and len(samples) > 2 * SAMPLE_RATE, pressed)
    body = json.dumps({"input": second, "voice": "af_heart", "response_format": "pcm", "stream": False}).encode()
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/v1/audio/speech", body, {"Content-Type": JSON})
    with urllib.request.urlopen(asked) as answer:
        wanted = np.frombuffer(answer.read(), "<i2")
    begin = wanted[audible(wanted)[0] :][:64]
    heard = recording.samples[pressed:]
    places = [at for at in np.flatnonzero(heard == begin[0]) if np.array_equal(heard[at : at + 64], begin)]
    return float(places[0]) / SAMPLE_RATE if places else math.nan


def by_screen_reader(card: SoundCard, recording: Recording, url: str, presses: int) -> Table:
    """Milliseconds from a screen reader's command to the first audible sample."""
    taken: dict[str, list[float]] = {"a letter": [], "two words": [], "a phrase": []}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Desktop(Path(folder), card, url)) as desktop,
        desktop.client() as client,
    ):

        def spoken(*commands: str) -> float:
            seconds = heard(recording, lambda: client.send(*commands))
            client.until("702 END")
            return 1e3 * seconds

        spoken("CHAR q")
        time.sleep(KEPT_AFTER)
        for press in range(presses):
            number, opening = press + 20, OPENINGS[press % len(OPENINGS)]
            taken["a letter"].append(spoken(f"CHAR {string.ascii_lowercase[press % 26]}"))
            taken["two words"].append(spoken("SPEAK", f"Button {number}", "."))
            taken["a phrase"].append(spoken("SPEAK", f"{opening} of house number {number}", "."))
            row = ", ".join(f"{name} {all_[-1]:.0f} ms" for name, all_ in taken.items())
            print(f"{press}: {row}", file=sys.stderr, flush=True)
    rows = [(name, len(all_), median(all_), percentile(all_, 95)) for name, all_ in taken.items()]
    return Table("From a screen reader's key", ("what", "times", "median, ms", "p95, ms"), rows)


def write(into: IO[bytes], text: str, rate: float) -> None:
    for token in tokens(text):
        into.write(token.encode())
        time.sleep(1 / rate)
    into.close()


def by_writer(recording: Recording, port: int, presses: int, rate: float) -> Table:
    """Milliseconds from the first token to the first audible sample, and to the last token of the first sentence."""
    taken: dict[str, list[float]] = {"say -": [], "play -": []}
    ends: list[float] = []
    for text in answers()[: 1 + presses]:
        for name, all_ in taken.items():
            command = [*own_command(name.split()[0], "--url", f"http://127.0.0.1:{port}"), "-"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as process:
                time.sleep(STARTS)
                writer = Thread(target=write, args=(process.stdin, text + SECOND, rate))
                all_.append(1e3 * heard(recording, writer.start))
                writer.join()
                posted(port, "/v1/play/stop")
        ends.append(1e3 * (len(tokens(text)) - 1) / rate)
        print(f"{len(ends)}: {', '.join(f'{name} {all_[-1]:.0f} ms' for name, all_ in taken.items())}", file=sys.stderr)
    columns = ("way", "answers", "median, ms", "p95, ms", "first sentence written, ms")
    rows = [
        (name, presses, median(all_[1:]), percentile(all_[1:], 95), median(ends[1:])) for name, all_ in taken.items()
    ]  # the first opens the player
    return Table(f"From the first token, {rate:g} a second", columns, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presses", type=int, default=10, help="of each way")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds of silence before each press")
    parser.add_argument("--keys", action="store_true", help="a screen reader's, by Speech Dispatcher")
    parser.add_argument("--written", type=float, help="tokens a second of a text on standard input")
    parser.add_argument("--engine", choices=("kokoro", "espeak"), default="kokoro")
    parser.add_argument("--model", type=Path, help="default: the one in the installed packages")
    parser.add_argument("--voices", type=Path, help="default: the embedded ones")
    options = parser.parse_args()
    settings = WorkerSettings(engine=options.engine, model=options.model, voices=options.voices)
    print(described())
    with sound_card() as card:
        os.environ.update(card.environment)
        with kokoro_live(settings, "--cache-bytes", "0") as server:
            recording = card.record()
            url = f"http://127.0.0.1:{server.port}"
            if options.written:
                print(by_writer(recording, server.port, options.presses, options.written).as_markdown())
                return 0
            if options.keys:
                print(by_screen_reader(card, recording, url, options.presses).as_markdown())
                return 0
            taken: dict[str, list[float]] = {}

            def over_http(text: str) -> float:
                return listen(server.port, text, "af_heart").assert_complete().to_first_audible or 0.0

            def played(text: str) -> float:
                return heard(recording, lambda: posted(server.port, "/v1/play", input=text))

            def by_command(text: str) -> float:
                command = [*own_command("play", "--no-wait", "--url", url), text]
                return heard(recording, lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))

            ways = {"over HTTP": over_http, "POST /v1/play": played, "kokoro-live play": by_command}
            number = 0
            for press in range(1 + options.presses):
                for name, way in ways.items():
                    number += 1
                    time.sleep(options.pause)
                    seconds = way(selection(number))
                    if press:  # the first opens the player
                        taken.setdefault(name, []).append(1e3 * seconds)
                    print(f"press {press}, {name}: {seconds:.3f}", file=sys.stderr, flush=True)
                    posted(server.port, "/v1/play/stop")
            steered: dict[str, list[float]] = {"an interruption": [], "a stop": []}
            for press in range(options.presses):
                number += 2
                texts = selection(number), selection(number + 1)
                steered["an interruption"].append(1e3 * interrupted(recording, server.port, *texts))
                posted(server.port, "/v1/play/stop")
                steered["a stop"].append(1e3 * stopped(recording, server.port, selection(number)))
                print(
                    f"{press}: {', '.join(f'{name} {all_[-1]:.0f} ms' for name, all_ in steered.items())}",
                    file=sys.stderr,
                )
            memory = server.processes()["player"].memory_full_info()
    least = median(taken["over HTTP"])
    rows = [
        (name, len(all_), median(all_), percentile(all_, 95), median(all_) / least, median(all_) - least)
        for name, all_ in taken.items()
    ]
    columns = ("way", "presses", "median, ms", "p95, ms", "/ HTTP", "more, ms")
    print(Table("From the key to the first audible sample", columns, rows).as_markdown())
    steers = [(name, len(all_), median(all_), percentile(all_, 95)) for name, all_ in steered.items()]
    print(Table("While a text sounds", ("call", "times", "median, ms", "p95, ms"), steers).as_markdown())
    print(f"The player: {memory.rss / 1e6:.0f} MB resident, {memory.uss / 1e6:.0f} MB its own.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
