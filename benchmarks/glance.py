"""How soon and how fast a server of its own speaks, in 20 seconds and one sentence (`kokoro-live bench --quick`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from benchmarks.measuring.figures import median
from benchmarks.measuring.listening import FRESH, listen
from benchmarks.measuring.subjects import kokoro_live
from worker.settings import WorkerSettings

SENTENCE = "The first move is what sets everything in motion."
SECONDS = 8.0
"""After so many seconds no measurement begins; the server's start comes before."""
_MOST = 8
_VOICE = "af_heart"


def glance(settings: WorkerSettings, say: Callable[[str], None]) -> str:
    """One sentence: seconds to the first audible sample of a sentence that wasn't spoken before, seconds of speech a
    second, engine and machine.

    Args:
        say: is told what is being done.

    Raises:
        CannotStart, ConnectionError: the server doesn't speak.
    """
    say("Starting a server, and listening to a sentence a few times: about 20 s.")
    first, rates = [], []
    with kokoro_live(settings) as subject:
        engine = ""
        began = time.monotonic()
        for number in range(_MOST):
            if number > 1 and time.monotonic() - began > SECONDS:
                break
            heard = listen(subject.port, SENTENCE, _VOICE, headers=FRESH).assert_complete()
            engine = heard.headers.get("X-Engine", engine)
            if number:  # the first one pays for what is loaded when it is first needed
                first.append(heard.to_first_audible or heard.to_end)
                rates.append(heard.audio_seconds / heard.to_end)
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return (
        f"First sound after {median(first):.2f} s, {median(rates):.1f} \N{MULTIPLICATION SIGN} real time: "
        f"{engine}, one sentence heard {len(first)} times, {cores} cores, load {load:.1f}."
    )
