"""The line to the player: a channel while one runs, and the journal and unanswered messages that outlive it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

import msgspec

from frontend.contract.errors import ApiError
from frontend.playing.audience import Audience
from frontend.playing.journal import Journal
from frontend.playing.unanswered import Asking, Unanswered
from shm.duplex import Duplex
from shm.messages import ControlMessage, PlayerWanted
from shm.playing import (
    MAX_MESSAGE_BYTES,
    FromPlayer,
    Greeting,
    Held,
    Play,
    PlayedWord,
    PlayerAnswer,
    PlayerState,
    Welcome,
    decode_from_player,
    encode,
)

log = logging.getLogger(__name__)


class PlayerLine:
    """Has a player started when one is wanted, and gives each new player what the last one left."""

    def __init__(self, tell: Callable[[ControlMessage], None], url: str) -> None:
        """
        Args:
            tell: sends a control message to the supervisor.
            url: the address at which the player reaches this front.
        """
        self.key = secrets.token_urlsafe(24)
        """The key with which the player passes the gate."""
        self.output: str | None = None
        """The output that the last player found; empty if it found none, None before the first."""
        self.reason = ""
        """The reason why it found none."""
        self.audience = Audience()
        self.journal = Journal()
        self.unanswered = Unanswered()
        self._tell = tell
        self._url = url
        self._link: Duplex[FromPlayer] | None = None
        self._greeted = False

    @property
    def is_used(self) -> bool:
        """True if there is a player, or one is being started: its first text may be stopped before it sounds."""
        return bool(self._link or self.journal.items or self.unanswered)

    def want(self) -> None:
        """Have a player started, unless there is one."""
        if self._link is None:
            self._tell(PlayerWanted())

    def tell_player(self, message: Asking) -> None:
        """Send a message whose answer is waited for; a player that hasn't greeted gets it afterwards."""
        if self._link and self._greeted:
            self._link.send(encode(message))

    def take(self, state: PlayerState) -> None:
        """Take a new state."""
        if state.device:
            self.output, self.reason = state.device, ""
        self.journal.note(state)
        self.audience.show(state)

    # -- the supervisor

    def linked(self, fd: int) -> None:
        """Take the channel to a player that has started."""
        self.close()
        self._greeted = False
        self._link = Duplex(fd, decode_from_player, MAX_MESSAGE_BYTES, self._hear, self._gone)
        self._link.send(encode(Welcome(self._url, self.key, self.journal.state.volume)))

    def given_up(self, reason: str) -> None:
        """The supervisor starts no player any more, because they keep dying."""
        if reason and (self.unanswered or self.journal.items):
            self.unanswered.refuse(unavailable(f"The player can't be started: {reason}"))
            self.journal.clear()
            self.take(PlayerState(volume=self.journal.state.volume, reason=reason))

    def close(self) -> None:
        """Close the channel; the player continues with the next front."""
        if self._link:
            self._link.close()
            self._link = None

    # -- the player

    def _hear(self, message: FromPlayer) -> None:
        match message:
            case Greeting():
                self._greet(message)
            case Held(item):
                self.journal.add(item)
            case PlayerAnswer():
                self.journal.answered(message.number)
                asked = self.unanswered.answer(message)
                if isinstance(asked, Play) and not message.refusal:
                    self.journal.add(asked.item)  # at once: the next message may be the player's last
                elif message.code == "no_sound_card":
                    self.output, self.reason = "", message.refusal
            case PlayerState(id=None) if self._greeted and self.journal.resuming:
                pass  # it has taken nothing yet
            case PlayerState():
                if self._greeted or not self._resume(message):
                    self.take(message)
            case PlayedWord():
                self.audience.show_word(message)

    def _greet(self, greeting: Greeting) -> None:
        self.output, self.reason = greeting.output, greeting.reason
        if not greeting.output:
            message = f"This machine has no output for sound: {greeting.reason}."
            self.unanswered.refuse(ApiError(501, message, code="no_sound_card"))
            self.journal.clear()

    def _resume(self, state: PlayerState) -> bool:
        """Give a new player the items that the last one held, and then the messages that it has not answered; returns
        True if there were items.

        A player that outlived the last front holds its items itself.
        """
        self._greeted = True
        lost = self.journal.resumption(self.unanswered.numbers) if state.id is None else []
        if lost:
            log.info("the player is to continue with %d items", len(lost))
        for message in (*lost, *self.unanswered.messages):
            self.tell_player(message)
        return bool(lost)

    def _gone(self) -> None:
        self._link, self._greeted = None, False
        if self.unanswered:
            self.want()
        if self.journal.items:
            self.take(msgspec.structs.replace(self.audience.state, device=None))


def unavailable(reason: str) -> ApiError:
    """The error of a request that needs a player, while there is none."""
    return ApiError(503, reason, code="player_unavailable", headers={"Retry-After": "1"})
