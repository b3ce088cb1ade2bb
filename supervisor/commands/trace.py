"""`kokoro-live trace`: where the time of a request goes, from the call until the first audible sample is there."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from supervisor.commands.client_command import AskingCommand, address_options, server_url

if TYPE_CHECKING:
    from client.blocking import BlockingClient

SUBJECTS = ("The kettle", "My neighbour", "A lantern", "This old clock", "The ferry", "Our gardener", "One of them")

PLACES = {
    "sent": ("client", "begins to connect"),
    "connected": ("front", "has the connection"),
    "head": ("front", "has the request's head"),
    "asked": ("front", "has checked the body"),
    "reading": ("front", "a thread takes the text up"),
    "planned": ("front", "the first segment is read and cut"),
    "dispatched": ("front", "sends the order"),
    "taken": ("worker", "has read the order"),
    "begun": ("worker", "a thread takes it up"),
    "prosody": ("worker", "prosody is made"),
    "features": ("worker", "decoder's features are made"),
    "made": ("worker", "first window is vocoded"),
    "written": ("worker", "PCM lies in the ring"),
    "first_block": ("front", "notices the block"),
    "encoded": ("front", "first audio is encoded"),
    "first_byte": ("front", "writes the answer"),
    "received": ("client", "has the first audible sample"),
}
"""Process and words of each place, in order."""

ENGINE = ("begun", "made")
TEXT = ("reading", "planned")
"""The places between which the engine works, and the text is read; all else is the server's own share."""


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """One request's places, in monotonic seconds."""

    places: dict[str, float]
    windows: list[tuple[float, float, float, float]]
    """Each block's times: begun, made, written, noticed."""

    @property
    def total(self) -> float:
        return self.places["received"] - self.places["sent"]

    def between(self, places: tuple[str, str]) -> float:
        """Seconds between two places; 0 if one was skipped."""
        begin, end = (self.places.get(place) for place in places)
        return end - begin if begin is not None and end is not None else 0.0

    @property
    def own(self) -> float:
        """The server's own share: neither the engine's nor the text's."""
        return self.total - self.between(ENGINE) - self.between(TEXT)


@click.command(cls=AskingCommand)
@click.argument("text", required=False)
@click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Requests, one after another.")
@click.option("--pause", type=click.FloatRange(min=0), default=0.0, help="Seconds of quiet before each request.")
@click.option("--voice", help="A voice, or a blend such as 'af_heart(2)+af_bella'.")
@click.option("--svg", type=click.Path(dir_okay=False, writable=True), help="Draw the picture into this file.")
@address_options
@click.pass_context
def trace(
    context: click.Context,
    /,
    text: str | None,
    runs: int,
    pause: float,
    voice: str | None,
    svg: str | None,
    **_settings: Any,
) -> None:
    """Show where the time of a request goes: each place that its first audio passes, in which process, and when.

    Speaks TEXT, or a sentence that nobody has spoken, and takes nothing from the cache. With --runs: medians.
    """
    found = list(_timelines(server_url(context), text, runs, pause, voice))
    typical = found[0] if len(found) == 1 else medians(found)
    for line in table(typical):
        click.echo(line)
    click.echo(summary(found))
    if svg:
        from pathlib import Path

        Path(svg).write_text(picture(typical))


def _timelines(url: str, text: str | None, runs: int, pause: float, voice: str | None) -> Iterator[TracedRequest]:
    from secrets import token_hex

    from client.blocking import BlockingClient

    for number in range(runs):
        time.sleep(pause)
        name = f"trace-{token_hex(8)}"
        client = BlockingClient(url, headers={"X-Request-ID": name, "Cache-Control": "no-store"})
        body: dict[str, Any] = {"input": text or f"{SUBJECTS[number % 7]} of house {number + 20} {ENDING}"}
        sent = time.monotonic()
        received = _hear(client, body | ({"voice": voice} if voice else {}))
        yield timeline(_of(client, name), sent, received)


ENDING = "has been on the stove since a quarter past four."


def _hear(client: BlockingClient, body: dict[str, Any]) -> float:
    """Hear the speech out; monotonic seconds at which its first audible sample came.

    Raises:
        CannotSpeak: it doesn't come.
    """
    from client.answers import CannotSpeak
    from shm.audio import AUDIBLE

    received: float | None = None
    for piece in client.speak(body):
        if received is None:
            now = time.monotonic()
            samples = memoryview(piece.pcm[: len(piece.pcm) // 2 * 2]).cast("h")
            received = now if any(abs(sample) > AUDIBLE for sample in samples) else None
    if received is None:
        raise CannotSpeak("nothing of the text can be heard")
    return received


def _of(client: BlockingClient, name: str) -> dict[str, Any]:
    """The server's trace of that request.

    Raises:
        CannotSpeak: the server keeps none.
    """
    from client.answers import CannotSpeak

    status = client.get("/status")
    for each in (*status.get("latest_requests", ()), *status.get("slowest_requests", ())):
        if each["request_id"] == name:
            found: dict[str, Any] = each
            return found
    raise CannotSpeak("the server keeps no trace of the request: others came meanwhile, or it is of another version")


def timeline(answer: dict[str, Any], sent: float, received: float) -> TracedRequest:
    """The server's trace and the client's own times, together.

    Args:
        answer: one of `/status`' traces.
        sent: monotonic seconds before the client connected.
        received: when it had the first audible sample.
    """
    started = answer["started"]
    places = {"sent": sent} | {name: started + at for name, at in answer["places"].items()} | {"received": received}
    windows = [
        tuple(started + block[name] for name in ("begun", "made", "written", "noticed")) for block in answer["blocks"]
    ]
    return TracedRequest({name: places[name] for name in PLACES if name in places}, windows)


def medians(found: Sequence[TracedRequest]) -> TracedRequest:
    """A timeline in which each step, and each window, takes the median of its times."""
    places = {"sent": 0.0}
    before, at = "sent", 0.0
    for name in PLACES:
        there = [each for each in found if name in each.places]
        if name != "sent" and len(there) == len(found):
            at += statistics.median(each.places[name] - each.places[before] for each in there)
            places[name], before = at, name
    windows = []
    for number in range(min(len(each.windows) for each in found)):
        times = [tuple(time - each.places["sent"] for time in each.windows[number]) for each in found]
        windows.append(tuple(map(statistics.median, zip(*times, strict=True))))
    return TracedRequest(places, windows)


WIDTH = 20
"""Columns of the picture, which end at the eightieth of a terminal."""


def table(shown: TracedRequest) -> Iterator[str]:
    """A line for each place: its time, the step's length, process, words, and the step as a bar."""
    start, total = shown.places["sent"], max(shown.total, 1e-9)
    yield f"{'ms':>8} {'step':>7}  {'process':8}{'':34}"
    before = start
    for name, at in shown.places.items():
        process, words = PLACES[name]
        begin, end = (round(WIDTH * (each - start) / total) for each in (before, at))
        bar = " " * min(begin, WIDTH - 1) + "█" * max(end - begin, 1 if at > before else 0)
        yield f"{1e3 * (at - start):8.1f} {1e3 * (at - before):7.2f}  {process:8}{words:34}{bar}".rstrip()
        before = at
    for number, (begun, made, written, noticed) in enumerate(shown.windows):
        times = (1e3 * (each - start) for each in (begun, made, written, noticed))
        yield "window {}: begun {:.1f}, made {:.1f}, in the ring {:.1f}, noticed {:.1f}".format(number, *times)


def summary(found: Sequence[TracedRequest]) -> str:
    """The shares of the first audible sample's time, in a line."""
    total, engine, text, own = (
        1e3 * statistics.median(of)
        for of in zip(
            *((each.total, each.between(ENGINE), each.between(TEXT), each.own) for each in found), strict=True
        )
    )
    said = f"first audible sample {total:.1f} ms: engine {engine:.1f}, text {text:.1f}, server {own:.1f}"
    return said if len(found) == 1 else f"{said} (medians of {len(found)})"


_COLOURS = {"client": "#888", "front": "#3b7dd8", "worker": "#d8663b"}
_ROW, _LEFT, _LENGTH = 22, 270, 700


def picture(shown: TracedRequest) -> str:
    """The timeline as SVG: a row for each step, and one for each window."""
    start, total = shown.places["sent"], max(shown.total, *(each[3] - shown.places["sent"] for each in shown.windows))
    rows: list[tuple[str, str, float, float]] = []
    before = start
    for name, at in shown.places.items():
        process, words = PLACES[name]
        rows.append((f"{process}: {words}", _COLOURS[process], before, at))
        before = at
    for number, (begun, made, _, noticed) in enumerate(shown.windows):
        rows += [(f"worker: window {number}", _COLOURS["worker"], begun, made)]
        rows += [(f"front: has window {number}", _COLOURS["front"], made, noticed)]
    height = _ROW * (len(rows) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _LENGTH + 80}" height="{height}" '
        'font-family="sans-serif" font-size="12">'
    ]
    for row, (words, colour, begin, end) in enumerate(rows):
        x, width = (_LENGTH * each / total for each in (begin - start, end - begin))
        y = _ROW * row
        parts += [
            f'<text x="4" y="{y + 15}">{words}</text>',
            f'<rect x="{_LEFT + x:.1f}" y="{y + 4}" width="{max(width, 1):.1f}" height="14" fill="{colour}"/>',
            f'<text x="{_LEFT + x + max(width, 1) + 4:.1f}" y="{y + 15}">{1e3 * (end - begin):.1f} ms</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
