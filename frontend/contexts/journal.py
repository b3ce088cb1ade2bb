"""Journal of a socket, kept for a successor of this front: the calls that its input led to, and the place up to which
each context was told.

A context's notes are the calls that were made on it, in order, with what depends on time: a text that was given because
its client paused, sentences that the reader gave because no more came, the segments that were planned. A successor
makes the same calls, so the context makes the same audio; `ContextNotes.untold` leaves out what its client has.

Notes leave with the next message, or with the next input that was followed: until then nobody has heard of what they
led to, and a successor may decide otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from secrets import randbits
from struct import Struct
from typing import Any

import msgspec

from frontend.audio.encoding import NUMBER_BITS
from frontend.contexts.events import Event, Flushed
from frontend.contract.progress import Place, Progress
from frontend.serving.record import Record
from shm.decoding import msgpack_decoder
from shm.records import SegmentCut

_SPARE = 4096
"""Bytes of notes that no longer matter and aren't worth writing the others again."""

SOCKET = 0
"""Stands for the socket itself where a context's number is expected."""

_OF_SOCKET = 200
"""Latest notes of the socket itself that matter."""

Note = tuple[Any, ...]
"""The number of a context, or `SOCKET`; what was noted; its values."""


class ContextPlace(msgspec.Struct, array_like=True):
    """Place in one context up to which its client was told."""

    number: int = 0
    audio: int = 0
    """Bytes."""
    words: int = 0
    flushes: int = 0
    extra: list[int] = []
    """Numbers that the dialect counts of the context (`Talk.place`)."""
    stream: int = 0
    """Number of the context's stream that is being heard, from 0."""
    heard: int = 0
    """Segments of that stream of which samples were joined."""
    samples: int = 0
    """Samples of it that were given to the encoder."""
    since: float = 0.0
    """Monotonic seconds at which its listener heard the first of them."""


class Settled(msgspec.Struct, array_like=True):
    """Counts over a context's streams that were told whole and aren't made again."""

    stream: int = 0
    """Number of the stream after them."""
    audio: int = 0
    words: int = 0
    flushes: int = 0
    reached: int = 0
    """Flushes, told or not."""
    seconds: float = 0.0


class SocketPlace(msgspec.Struct, array_like=True):
    """Place in a socket, as its client was told it."""

    begun: bool = False
    """Its greeting was sent."""
    state: list[int] = []
    """Numbers that the dialect counts of the socket (`Talk.state`)."""
    goodbye: tuple[int, str] | None = None
    """Code and reason of the close frame, once the socket is to end."""
    closing: bool = False
    """No more contexts are opened."""
    speaks: bool = False
    contexts: list[ContextPlace] = []


class ContextNotes:
    """One context's. The default keeps nothing."""

    def __init__(
        self,
        journal: SocketJournal | None = None,
        number: int = 0,
        left: ContextPlace | None = None,
        calls: Sequence[Note] = (),
        encoder: int | None = None,
    ) -> None:
        """
        Args:
            left: what a killed front has told of the context; None: it is new.
            calls: those that were noted.
            encoder: number of the encoded stream; None: any.
        """
        self.number = number
        self.encoder = randbits(NUMBER_BITS) if encoder is None else encoder
        self.left = left
        self.settled, self.calls = _unsettled(calls)
        """The calls that a killed front has noted since then."""
        self.lost = False
        """True if the context's audio can't be made again."""
        self._journal = journal
        done = self.settled
        self._made = ContextPlace(number, done.audio, done.words, done.flushes)
        """Audio, words and flushes that were made of the context, told or not."""
        self._held = 0
        self._progress: Progress | None = None
        """Progress of the stream in hand; None between two streams."""

    @property
    def had_audio(self) -> bool:
        """True if the client has audio of the context from a killed front."""
        return self.left is not None and self.left.audio > 0

    def note(self, kind: str, *arguments: Any) -> None:
        if self._journal is not None:
            self._journal.note(self.number, kind, *arguments)

    def keep(self) -> None:
        """Have what was noted outlive this front."""
        if self._journal is not None:
            self._journal.keep()

    def settle(self, stream: int, reached: int, seconds: float) -> None:
        """Note that all streams before that one were told whole, and that its audio doesn't depend on theirs.

        Args:
            reached: flushes before it.
            seconds: of their audio.
        """
        made, left = self._made, self.left or ContextPlace()
        if self._journal is None or self._held or made.audio < left.audio:
            return
        done = Settled(stream, made.audio, made.words, made.flushes, reached, seconds)
        self._journal.settle(self.number, done)

    def progress(self, stream: int, went_on: Callable[[], None]) -> Progress:
        """The progress of the context's stream of that number, which begins.

        Args:
            went_on: called once if the stream is that of a killed front, and more of it is told.
        """
        if self._journal is None:
            return Progress()

        def keep(index: int, cut: SegmentCut) -> bool:
            self.note("cut", stream, index, cut.units, cut.key[:6])
            return True

        cuts = {index: SegmentCut(units, key) for kind, at, index, units, key in self._noted("cut") if at == stream}
        profile: list[float] = next((profile for _, at, profile in self._noted("profile") if at == stream), [])
        left = self.left
        place: Place | None = None
        if left is not None and (stream <= left.stream or cuts):
            now = stream == left.stream
            place = Place(
                heard=left.heard if now else len(cuts) if stream < left.stream else 0,
                samples=left.samples if now else 1 << 62 if stream < left.stream else 0,
                since=left.since if stream <= left.stream else 0.0,
                profile=profile,
            )
        self._made = msgspec.structs.replace(self._made, stream=stream, heard=0, samples=0, since=0.0)
        name = b"%b %d %d" % (self._journal.name, self.number, stream)
        known = [cuts[index] for index in sorted(cuts)]
        self._progress = Progress(keep, place, known, name, self.left is not None, self._journal.moved, went_on)
        return self._progress

    def _noted(self, kind: str) -> Iterator[Note]:
        return (call for call in self.calls if call[0] == kind)

    def untold(self, event: Event) -> Event | None:
        """The part of a context's next event that the client doesn't have; None: it has all of it."""
        made, left = self._made, self.left or ContextPlace()
        if isinstance(event, Flushed):
            made.flushes += 1
            return event if made.flushes > left.flushes else None
        audio = event.audio[max(left.audio - made.audio, 0) :]
        words = event.words[max(left.words - made.words, 0) :]
        made.audio += len(event.audio)
        made.words += len(event.words)
        if self.left is not None and not (audio or words):
            return None
        if (made.audio > left.audio or made.words > left.words) and self._progress and self._progress.left:
            self._progress.goes_on()
        return replace(event, audio=audio, words=words)

    def place(self, held: int, extra: list[int]) -> ContextPlace:
        """The context's place, once the last event that was given is told.

        Args:
            held: words that the dialect has and hasn't told.
            extra: what it counts.
        """
        made, left = self._made, self.left or ContextPlace()
        self._held = held
        place = ContextPlace(
            self.number,
            max(made.audio, left.audio),
            max(made.words - held, left.words),
            max(made.flushes, left.flushes),
            extra,
            left.stream,
            left.heard,
            left.samples,
            left.since,
        )
        progress = self._progress
        if progress is not None and (made.stream, progress.heard) >= (left.stream, left.heard):
            place.stream, place.heard = made.stream, progress.heard
            if progress.clock is not None:
                samples, place.since = progress.clock()
                place.samples = max(samples, left.samples) if made.stream == left.stream else samples
            self.lost |= progress.lost
        return place


class SocketJournal:
    """The notes of one socket."""

    def __init__(self, record: Record | None) -> None:
        """`record`: the connection's; None: nothing is kept."""
        self._record = record
        self.name = record.name if record else b""
        self.moved: Callable[[int], bool] = record.moved if record else lambda _: False
        self._pending: list[tuple[Note, bytes]] = []
        """Notes that haven't left, and as they are written."""
        self._kept: dict[int, list[tuple[Note, bytes]]] = {}
        self._counted = 0
        """Number of calls in `_kept`."""
        self._written = 0
        """Bytes of notes that the record has."""
        self._numbers = 0
        self._reopening: ContextNotes | None = None
        self.message = ""
        """The message that is being followed."""
        self.describe: Callable[[], SocketPlace] = SocketPlace
        """Gives the socket's place."""
        self.open: dict[int, ContextNotes] = {}
        """The notes of open contexts, by number."""
        self.left: SocketPlace | None = None
        """Place that a killed front has left; None: the socket is new."""
        self._left_notes: list[Note] = []
        if record is not None and record.left:
            self.left = _decode_place(record.left)
            alive = {SOCKET, *(place.number for place in self.left.contexts)}
            self._left_notes = list(self._read(record.notes, alive))

    def _read(self, notes: bytes, alive: Set[int]) -> Iterator[Note]:
        self._written, at = len(notes), 0
        while at < len(notes):
            (length,) = _LENGTH.unpack_from(notes, at)
            encoded = notes[at : at + _LENGTH.size + length]
            at += len(encoded)
            note = _decode_note(encoded[_LENGTH.size :])
            self._numbers = max(self._numbers, note[0])
            if note[0] in alive:
                self._kept.setdefault(note[0], []).append((note, encoded))
                yield note

    # -- what was left

    def left_contexts(self) -> Iterator[tuple[str, str, ContextNotes]]:
        """The contexts that a killed front has left open: name, the message that opened each, and its notes. While an
        item is in hand, the next context that is opened is that one."""
        places = {place.number: place for place in self.left.contexts} if self.left else {}
        for number, place in places.items():
            calls = [note[1:] for note in self._left_notes if note[0] == number]
            opening = next((call for call in calls if call[0] == "open"), None)
            if opening is None:
                continue
            _, key, message, encoder = opening
            self._reopening = ContextNotes(self, number, place, calls, encoder)
            yield key, message, self._reopening
            self._reopening = None

    def left_of_socket(self, kind: str) -> list[Any]:
        """The values that were noted of the socket."""
        return [note[2] for note in self._left_notes if note[:2] == (SOCKET, kind)]

    # -- notes

    def opened(self, key: str) -> ContextNotes:
        """Note that the message in hand opens a context; its notes."""
        if (notes := self._reopening) is None:
            self._numbers += 1
            notes = ContextNotes(self, self._numbers)
            notes.note("open", key, self.message, notes.encoder)
        self.open[notes.number] = notes
        return notes

    def dropped(self, notes: ContextNotes) -> None:
        """Note that a context is over: its notes matter no more."""
        if self.open.pop(notes.number, None) is None:
            return
        self._keep_pending()
        self._kept.pop(notes.number, None)
        self._pending = [(note, encoded) for note, encoded in self._pending if note[0] != notes.number]
        self._counted = len(self._pending)

    def note(self, context: int, kind: str, *arguments: Any) -> None:
        """Note something of a context, or of the socket (`SOCKET`)."""
        if self._record is None or self._reopening is not None:
            return
        note = (context, kind, *arguments)
        encoded = _encode(note)
        self._pending.append((note, _LENGTH.pack(len(encoded)) + encoded))

    def settle(self, context: int, done: Settled) -> None:
        """Note that a context's streams before one of them matter no more."""
        self._keep_pending()
        self.note(context, "settled", *msgspec.structs.astuple(done))
        kept = self._kept.get(context, [])
        begins = next((place for place, (note, _) in enumerate(kept) if note[1:3] == ("renew", done.stream)), None)
        if begins is not None:
            self._kept[context] = [each for each in kept[:begins] if each[0][1] == "open"] + kept[begins:]

    def _keep_pending(self) -> bytes:
        """Count the notes that haven't left among those that matter; they are still to leave."""
        for note, encoded in self._pending[self._counted :]:
            self._kept.setdefault(note[0], []).append((note, encoded))
        self._counted = len(self._pending)
        return b"".join(encoded for _, encoded in self._pending)

    @contextmanager
    def unit(self, followed: int | None = None) -> Iterator[None]:
        """Have all that is written within the block leave at once, or not at all, together with all notes.

        Args:
            followed: bytes of the input that were followed; None: no more than before.
        """
        if self._record is None:
            yield
            return
        place = self.describe()
        lost = any(each.lost for each in self.open.values())
        notes = self._keep_pending()
        self._pending.clear()
        self._counted = 0
        alive = sum(len(encoded) for kept in self._kept.values() for _, encoded in kept)
        anew = self._written + len(notes) > 2 * alive + _SPARE
        if anew:
            self._kept[SOCKET] = self._kept.get(SOCKET, [])[-_OF_SOCKET:]
            notes, self._written = b"".join(encoded for kept in self._kept.values() for _, encoded in kept), 0
        self._written += len(notes)
        with self._record.socket_unit(
            b"" if lost else _encode(place), notes, anew=anew, followed=followed, rests=not place.speaks
        ):
            yield

    def keep(self) -> None:
        """Have all notes outlive this front."""
        with self.unit():
            pass


_LENGTH = Struct("<I")
_encode = msgspec.msgpack.Encoder().encode
_decode_place = msgpack_decoder(SocketPlace)
_decode_note: Callable[[bytes], Note] = msgpack_decoder(tuple)


def _unsettled(calls: Sequence[Note]) -> tuple[Settled, Sequence[Note]]:
    """Counts over the streams that were told whole, and the calls after them, from the text on that was held then."""
    done = Settled(*next((values for kind, *values in reversed(calls) if kind == "settled"), ()))
    begins = next((place for place, call in enumerate(calls) if call[:2] == ("renew", done.stream)), None)
    if not done.stream or begins is None:
        return Settled(), calls
    _, _, text, said = calls[begins]
    return done, [("write", text, False), ("said", said), *calls[begins + 1 :]]
