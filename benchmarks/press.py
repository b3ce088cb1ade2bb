"""From the key to the sound: a selection through the player, until the sound card plays it.

    python -m benchmarks.press [--presses 10] [--pause 0]

Three ways take turns, one press each, with texts that were never spoken before: `POST /v1/play` (Raycast's command, the
page), `kokoro-live play TEXT` (a desktop's shortcut, which starts a process), and the same text over HTTP, without a
sound card, as what the server itself takes. The first two end with the first audible sample in what the sound card
plays, which is recorded with 10 ms of delay. A ratio is that of the way's median to HTTP's, in one run. `--pause`:
seconds of silence before each press; the player closes the sound card meanwhile, if they are many.

Needs PulseAudio (apt-get install pulseaudio pulseaudio-utils).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring.figures import median, percentile
from benchmarks.measuring.listening import listen
from benchmarks.measuring.machine import machine
from benchmarks.measuring.report import Table
from benchmarks.measuring.subjects import kokoro_live
from kokoro_live import own_command
from shm.audio import SAMPLE_RATE
from tests.system.sound_card import Recording, audible, sound_card
from worker.settings import WorkerSettings

OPENINGS = ("The kettle", "My neighbour", "A lantern", "This old clock", "The ferry", "Our gardener", "One of them")
ENDINGS = ("has been on the stove since a quarter past four.", "was there before the rain began, and left after it.")


def selection(number: int) -> str:
    """A text of 11 to 14 words that no other number has."""
    return f"{OPENINGS[number % len(OPENINGS)]} of house {number + 20} {ENDINGS[number % len(ENDINGS)]}"


def posted(port: int, path: str, **body: object) -> None:
    content = json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request):
        pass


def heard(recording: Recording, press: Callable[[], object]) -> float:
    """Seconds from the press to the first audible sample in the recording."""
    pressed = recording.silence()
    press()
    found = recording.wait_for(lambda samples: audible(samples).size, pressed)
    return float(audible(found)[0]) / SAMPLE_RATE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presses", type=int, default=10, help="of each way")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds of silence before each press")
    parser.add_argument("--model", type=Path, help="default: the one in the installed packages")
    parser.add_argument("--voices", type=Path, help="default: the embedded ones")
    options = parser.parse_args()
    settings = WorkerSettings(engine="kokoro", model=options.model, voices=options.voices)
    print("; ".join(f"{name}: {value}" for name, value in machine().items()))
    with sound_card() as card:
        os.environ.update(card.environment)
        with kokoro_live(settings, "--cache-bytes", "0") as server:
            recording = card.record()
            url = f"http://127.0.0.1:{server.port}"
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
    least = median(taken["over HTTP"])
    rows = [
        (name, len(all_), median(all_), percentile(all_, 95), median(all_) / least, median(all_) - least)
        for name, all_ in taken.items()
    ]
    columns = ("way", "presses", "median, ms", "p95, ms", "/ HTTP", "more, ms")
    print(Table("From the key to the first audible sample", columns, rows).as_markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
