"""Messages between the front and the player, and the player's state as the API shows it.

The channel is a socket pair with frames (`shm.frames`), one message of msgpack in each. The front sends `Welcome`,
`Play`, `Extend`, `Steer`, `Change` and `Remove`; the player sends `Greeting`, `Held`, `PlayerAnswer`, `PlayerState` and
`PlayedWord`. Either end may die: the front keeps the items that the last `PlayerState` names, and gives them to the
next player; the player tells a new front which items it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from shm.decoding import one_error

MAX_MESSAGE_BYTES = 64 << 20
"""Longest message; the front's limits on bodies keep every item below it."""


class WhenBusy(StrEnum):
    """The place of a new item while another one is being played."""

    INTERRUPT = "interrupt"
    """The item begins now; the playing one ends, and the queue stays."""
    QUEUE = "queue"
    """The item begins after all others."""
    NEXT = "next"
    """The item begins after the playing one."""


class Playing(StrEnum):
    IDLE = "idle"
    """There is nothing to play."""
    BUFFERING = "buffering"
    """The audio that is due isn't there yet."""
    PLAYING = "playing"
    PAUSED = "paused"


class Verb(StrEnum):
    """Commands without arguments."""

    PAUSE = "pause"
    RESUME = "resume"
    TOGGLE = "toggle"
    """Resume if paused, else pause."""
    STOP = "stop"
    """End the playing item and clear the queue."""
    SKIP = "skip"
    """Go to the next sentence; after the last one, to the next item."""
    BACK = "back"
    """Go to the beginning of the sentence; within its first second, to the previous sentence."""
    FASTER = "faster"
    """Take the next higher of the usual speeds, from the next sentence on."""
    SLOWER = "slower"
    """Take the next lower of the usual speeds, from the next sentence on."""


class PlayedText(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that a text to play has in the request for it and in the player alike. None: not given."""

    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None, Meta(description="The same field as in a speech request.")
    ] = None
    title: Annotated[
        Annotated[str, Meta(max_length=256)] | None, Meta(description="A name for people: media controls show it.")
    ] = None
    source: Annotated[Annotated[str, Meta(max_length=256)] | None, Meta(description="The program that asks.")] = None


class Item(PlayedText, frozen=True, kw_only=True):
    """A text to play. Its fields are valid: the front has checked them."""

    id: str
    input: str
    voice: str
    speed: float
    markup: str = "none"
    rest: str | None = None
    """The text after `input` whose sentence isn't whole yet; None: no text follows."""
    written: int = 0
    """Characters of a text that is still being written that have come."""


class QueuedItem(msgspec.Struct, frozen=True):
    """A text that waits."""

    id: str
    title: str
    source: str
    characters: int
    voice: str


class PlayerState(msgspec.Struct, frozen=True, kw_only=True, tag="state", tag_field="message"):
    """The player's state; without a player, `idle`."""

    state: Playing = Playing.IDLE
    id: str | None = None
    """The item that is being played; None if idle, as in all fields about it."""
    title: str | None = None
    source: str | None = None
    sentence: str | None = None
    """The sentence that sounds, as it is written."""
    sentence_number: int | None = None
    """Place of the sentence in the item's text, from 0."""
    word: str | None = None
    """The word that sounds, where the engine can tell."""
    seconds: float | None = None
    """Audio of the item before the sample that sounds, at the present speed."""
    of: float | None = None
    """Expected length of the item in seconds."""
    voice: str | None = None
    speed: float | None = None
    volume: float = 1.0
    queue: tuple[QueuedItem, ...] = ()
    device: str | None = None
    """The output in use; None if no device is open."""
    reason: str | None = None
    """The reason why a player that should play does not; None otherwise."""


class SoundingWord(msgspec.Struct, frozen=True):
    """The event of a word that begins to sound."""

    id: str
    word: str
    sentence_number: int
    seconds: float
    """Time of the word in its item, as `PlayerState.seconds`."""


class PlayedWord(SoundingWord, frozen=True, tag="word", tag_field="message"):
    """Player -> front: this word begins to sound now."""


class Welcome(msgspec.Struct, frozen=True, tag="welcome", tag_field="message"):
    """Front -> player, first: how the player reaches this front."""

    url: str
    key: str
    """API key that only this front's player has."""
    volume: float = 1.0


class Play(msgspec.Struct, frozen=True, tag="play", tag_field="message"):
    """Front -> player: take this item."""

    number: int
    """Number of the message; its `PlayerAnswer` has it too."""
    item: Item
    on_busy: WhenBusy
    sentence: int = 0
    """First sentence to play: not 0 if an earlier player died."""
    paused: bool = False
    """True if the item isn't to sound before `resume`."""


class Extend(msgspec.Struct, frozen=True, tag="extend", tag_field="message"):
    """Front -> player: the item of that id is this one now, whose text is longer or ends."""

    number: int
    item: Item


class Steer(msgspec.Struct, frozen=True, tag="steer", tag_field="message"):
    """Front -> player: a command without a text, such as pause or next."""

    number: int
    verb: Verb


class Change(msgspec.Struct, frozen=True, kw_only=True, tag="change", tag_field="message"):
    """Front -> player: change these; None leaves a thing as it is."""

    number: int = 0
    speed: float | None = None
    voice: str | None = None
    volume: float | None = None
    seek: float | None = None
    """Seconds in the item: the sentence that sounds then begins."""
    sentence: int | None = None
    """Number of the sentence that is to begin."""


class Remove(msgspec.Struct, frozen=True, tag="remove", tag_field="message"):
    """Front -> player: end this item if it is being played, or take it out of the queue."""

    number: int
    id: str


class PlayerAnswer(msgspec.Struct, frozen=True, tag="answer", tag_field="message"):
    """Player -> front: the message with this number was obeyed, or can't be."""

    number: int
    place: int = 0
    """Number of items before this one, for `Play`."""
    refusal: str = ""
    """The reason for a refusal, for the client; empty if the message was obeyed."""
    code: str = ""
    """The reason for programs."""


class Greeting(msgspec.Struct, frozen=True, tag="greeting", tag_field="message"):
    """Player -> front, first: what the player can use."""

    output: str
    """The output that would be used; empty if there is none."""
    reason: str = ""
    """The reason why there is none."""


class Held(msgspec.Struct, frozen=True, tag="held", tag_field="message"):
    """Player -> a new front, once for each item: the player holds it."""

    item: Item


ToPlayer = Welcome | Play | Extend | Steer | Change | Remove
FromPlayer = Greeting | Held | PlayerAnswer | PlayerState | PlayedWord

encode = msgspec.msgpack.Encoder().encode
decode_to_player: Callable[[bytes], ToPlayer] = one_error(msgspec.msgpack.Decoder(ToPlayer).decode)
decode_from_player: Callable[[bytes], FromPlayer] = one_error(msgspec.msgpack.Decoder(FromPlayer).decode)
