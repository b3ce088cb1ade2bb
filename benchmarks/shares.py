"""A book takes what is left: the delay of a sentence's first sound while a file is being made.

    python -m benchmarks.shares [--rounds 15] [--engine espeak]

A server with the published model, or with espeak-ng. In each round the same sentence is listened to twice, in an order
that changes: while nothing else is made, and while a text of many sentences is made as a file (`priority: "file"`, as
`kokoro-live say -o` and `kokoro-live book` ask). Asked: the median of the rounds' differences is at most 50 ms; it
fails where their whole interval is above.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from multiprocessing import get_context
from multiprocessing.synchronize import Event

from benchmarks.measuring.figures import median, median_interval
from benchmarks.measuring.listening import FRESH, listen
from tests.real_model import real_model_file
from tests.system.server import Server, server

SENTENCE = "The first move is what sets everything in motion."
BOOK = " ".join(f"Sentence number {n} of this book is here, and the next one follows it at once." for n in range(200))
VOICE = "af_heart"
MOST = 0.050
"""Seconds by which a book may delay a sentence."""


@contextmanager
def book_in_the_making(running: Server) -> Iterator[None]:
    """From its second piece of audio on, until the block ends. Its client is a process of its own: a thread of this one
    would delay the listener whose time is taken."""
    spawned = get_context("spawn")
    made, ended = spawned.Event(), spawned.Event()
    maker = spawned.Process(target=_make, args=(running.port, made, ended))
    maker.start()
    try:
        if not made.wait(300):
            raise ConnectionError("no book is being made")
        yield
    finally:
        ended.set()
        maker.join()
        running.await_streams(0)


def _make(port: int, made: Event, ended: Event) -> None:
    body = {"input": BOOK, "voice": VOICE, "priority": "file", "response_format": "pcm"}
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("POST", "/v1/audio/speech", json.dumps(body), FRESH)
        answer = connection.getresponse()
        pieces = 0
        while not ended.is_set() and answer.read1(1 << 16):
            pieces += 1
            if pieces > 1:
                made.set()


def first_sound(running: Server) -> float:
    heard = listen(running.port, SENTENCE, VOICE, headers=FRESH).assert_complete()
    return heard.to_first_audible or heard.to_end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="Listenings of each kind (%(default)s).")
    parser.add_argument("--engine", choices=["auto", "espeak"], default="auto", help="espeak: without the model.")
    arguments = parser.parse_args()
    model = () if arguments.engine == "espeak" else ("--model", str(real_model_file()))
    with server("--engine", arguments.engine, *model) as running:
        first_sound(running)  # what is loaded when it is first needed
        alone, beside = [], []
        for number in range(arguments.rounds):
            if number % 2:
                alone.append(first_sound(running))
            with book_in_the_making(running):
                beside.append(first_sound(running))
            if not number % 2:
                alone.append(first_sound(running))
    delays = [with_book - without for with_book, without in zip(beside, alone, strict=True)]
    found, interval = median(delays), median_interval(delays)
    shown = f", 95 % interval {interval[0] * 1000:.0f} to {interval[1] * 1000:.0f}" if interval else ""
    print(f"First sound alone {median(alone) * 1000:.0f} ms, while a book is made {median(beside) * 1000:.0f} ms.")
    print(f"A book delays a sentence by {found * 1000:.0f} ms, the median of {len(delays)}{shown} (asked: 50).")
    sys.exit((interval[0] if interval else found) > MOST)


if __name__ == "__main__":
    main()
