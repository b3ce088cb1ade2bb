"""`kokoro-live play`: a text on the loudspeakers of the server's machine, with keys to pause, skip and change speed."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from client.answers import CannotSpeak
from supervisor.commands.client_command import AskingCommand, PaceType, address_options, server_url

if TYPE_CHECKING:
    from client.play import PlayClient

_VERBS = ("pause", "resume", "toggle", "stop", "skip", "back", "faster", "slower")


@click.command(cls=AskingCommand)
@click.argument("words", metavar="[TEXT|FILE|-]", nargs=-1)
@click.option(
    "--selection",
    is_flag=True,
    help="Without a text, play what is marked in any window: for a key of the desktop.",
)
@click.option("--pause", "verb", flag_value="pause", help="Pause what is being played.")
@click.option("--resume", "verb", flag_value="resume", help="Continue after a pause.")
@click.option("--toggle", "verb", flag_value="toggle", help="Pause, or continue.")
@click.option("--stop", "verb", flag_value="stop", help="Stop, and empty the queue.")
@click.option("--skip", "verb", flag_value="skip", help="Go to the next sentence.")
@click.option("--back", "verb", flag_value="back", help="Go to the sentence's beginning, or to the one before.")
@click.option("--faster", "verb", flag_value="faster", help="Speak faster from the next sentence on.")
@click.option("--slower", "verb", flag_value="slower", help="Speak slower from the next sentence on.")
@click.option("--status", "verb", flag_value="status", help="Print what is being played, as JSON.")
@click.option("--voice", help="A voice, or a blend such as 'af_heart(2)+af_bella'.")
@click.option("--speed", type=PaceType(), help="The pace, 0.25 to 5; without TEXT, of what is being played.")
@click.option("--volume", type=float, help="0 to 1, of what is being played and what comes.")
@click.option("--lang", help="The text's language, as in en-gb or es.  [default: the voice's own]")
@click.option(
    "--on-busy",
    type=click.Choice(["interrupt", "queue", "next"]),
    default="interrupt",
    show_default=True,
    help="Treatment of the text that is being played.",
)
@click.option("--wait/--no-wait", default=True, help="Wait until the text was heard.  [default: wait]")
@address_options
@click.pass_context
def play(
    context: click.Context, /, words: tuple[str, ...], verb: str | None, wait: bool, on_busy: str, **values: Any
) -> None:
    """Play TEXT, the FILE of that name, or standard input (`-`) as it comes, through a running server.

    In a terminal, one line shows the sentence, and keys control it: space pauses, ← and → go by sentence, + and -
    change the speed, ↑ and ↓ the volume, q ends the text.
    """
    from client.play import NOTHING, PlayClient
    from supervisor.speaking.interruption import tidied_up_when_killed
    from supervisor.speaking.texts import is_input, pieces_of_input, selection, text_of

    client = PlayClient(server_url(context))
    changes = {name: values[name] for name in ("speed", "voice", "volume") if values[name] is not None}
    with tidied_up_when_killed():
        if words or values["selection"]:
            if values["volume"] is not None:
                client.change(volume=values["volume"])
            asked = {"voice": values["voice"], "speed": values["speed"], "lang": values["lang"]}
            asked |= {"source": "play", "on_busy": on_busy}
            if words and is_input(words):
                pieces = pieces_of_input()
                # Nothing is interrupted before there is something to say.
                first = next((piece for piece in pieces if piece.strip()), None)
                if first is None:
                    raise CannotSpeak(NOTHING)
                name = client.play({"input": first, "more": True, **asked})
                client.go_on(name, pieces, len(first))
            else:
                text, title = text_of(words) if words else (selection(), "")
                name = client.play({"input": text, "title": title, **asked})
            if wait:
                _listen(client, name)
        elif verb == "status":
            click.echo(json.dumps(client.state(), ensure_ascii=False, indent=2))
        elif verb:
            client.steer(verb)
        elif changes:
            client.change(**changes)
        else:
            verbs = ", --".join(_VERBS)
            raise click.UsageError(f"Give a text, a file, -, --selection or one of --{verbs}, --status.")


def _listen(client: PlayClient, name: str) -> None:
    """Follow the text to its end; an interruption here ends it there, and leaves other programs' texts alone."""
    try:
        with live_line(client, name) as show:
            for state in client.until_heard(name):
                show(state)
    except KeyboardInterrupt:
        client.end(name)
        raise


_MARKS = {"playing": "▶", "paused": "⏸", "buffering": "…", "idle": "■"}

_KEYS = {
    b" ": "toggle",
    b"\x1b[C": "skip",
    b"\x1b[D": "back",
    b"+": "faster",
    b"=": "faster",
    b"-": "slower",
}


def line(state: dict[str, Any], width: int) -> str:
    """The state in one line that leaves the last column of a terminal of `width` columns to the cursor."""
    seconds, of = state.get("seconds") or 0.0, state.get("of") or 0.0
    head = f"{_MARKS[state['state']]} {_clock(seconds)}/{_clock(of)} {state.get('speed') or 1:g}× "
    text = state.get("reason") or state.get("sentence") or ""
    whole, room = head + text, max(width - 1, 1)
    return whole if len(whole) <= room else whole[: room - 1] + "…"


def obey(client: PlayClient, name: str, key: bytes) -> None:
    """Do what a key means for the text of that id; a key without a meaning does nothing."""
    if key in _KEYS:
        client.steer(_KEYS[key])
    elif key == b"q":
        client.end(name)
    elif key in (b"\x1b[A", b"\x1b[B"):
        volume = client.state()["volume"] + (0.1 if key.endswith(b"A") else -0.1)
        client.change(volume=round(min(max(volume, 0.0), 1.0), 2))


@contextmanager
def live_line(client: PlayClient, name: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Call the result with each state while the text of that id is played. Without a terminal nothing is shown, and no
    keys are read."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield lambda state: None
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    end_read, end_write = os.pipe()
    keys = threading.Thread(target=_read_keys, args=(client, name, end_read), daemon=True)
    try:
        tty.setcbreak(sys.stdin)
        keys.start()
        yield _show
    finally:
        os.close(end_write)
        keys.join()
        os.close(end_read)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _show(state: dict[str, Any]) -> None:
    sys.stderr.write(f"\r\x1b[K{line(state, shutil.get_terminal_size().columns)}")
    sys.stderr.flush()


def _read_keys(client: PlayClient, name: str, end: int) -> None:
    while True:
        ready, _, _ = select.select([sys.stdin, end], [], [])
        if end in ready:
            return
        key = os.read(sys.stdin.fileno(), 8)
        if not key:
            return
        with contextlib.suppress(CannotSpeak):  # nothing is being played any more
            obey(client, name, key)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
