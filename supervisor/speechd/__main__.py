"""`python -m supervisor.speechd [CONFIG]`: the program that Speech Dispatcher starts. It answers its commands.

The protocol is described in Speech Dispatcher's manual, "Communication Protocol for Output Modules", and by what its
version 0.11 sends.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from supervisor.speechd.config import ModuleConfig, read_config
from supervisor.speechd.manner import Manner
from supervisor.speechd.speaking import Speaking
from supervisor.speechd.wire import Wire, leave

_SPEAKING = ("SPEAK", "CHAR", "KEY", "SOUND_ICON")
_BAD_SYNTAX = "302 ERROR BAD SYNTAX"
_BAD_VALUE = "303 ERROR INVALID PARAMETER OR VALUE"


class _Gone(Exception):
    """Speech Dispatcher closed the pipe within a command."""


class Module:
    """Answers commands until QUIT or the end of the pipe."""

    def __init__(self, wire: Wire, config: ModuleConfig) -> None:
        self._wire = wire
        self._speaking = Speaking(wire, config)
        self._manner = Manner()

    def run(self) -> None:
        self._speaking.start()
        try:
            for line in self._wire.lines():
                if not self._answer(line.strip()):
                    break
        except (_Gone, BrokenPipeError):
            pass
        self._speaking.end_helpers()
        leave()

    def _answer(self, command: str) -> bool:
        """Answer a command; False after the last one."""
        match command:
            case "INIT":
                self._wire.reply("299-kokoro-live: the voices of Kokoro", "299 OK LOADED SUCCESSFULLY")
            case "SET":
                self._take_settings()
            case "AUDIO":
                self._take_audio()
            case "LOGLEVEL":
                self._wire.reply("207 OK RECEIVING LOGLEVEL SETTINGS")
                found = self._parameters()
                self._wire.reply(_BAD_SYNTAX if found is None else "203 OK LOG LEVEL SET")
            case "LIST VOICES":
                listed = (f"200-{name}\t{language}\tnone" for name, language in self._speaking.voices().listed())
                self._wire.reply(*listed, "200 OK VOICE LIST SENT")
            case "STOP" | "PAUSE":
                # After a 704 PAUSE, Speech Dispatcher 0.11.4 waits without end for a mark in the audio that it has.
                # After a 703 STOP it resumes a paused text at the last mark, as it should.
                self._speaking.stop()
            case "QUIT":
                self._speaking.stop()
                self._wire.reply("210 OK QUIT")
                return False
            case _ if command in _SPEAKING:
                self._take_message(command)
            case _ if command.startswith("DEBUG"):
                # The log is the standard error, which Speech Dispatcher keeps in a file of its own.
                self._wire.reply(f"200 OK DEBUGGING {' '.join(command.split()[1:2])}")
            case _:
                self._wire.reply("300 ERR UNKNOWN COMMAND")
        return True

    def _take_message(self, command: str) -> None:
        self._wire.reply("202 OK RECEIVING MESSAGE")
        lines = self._wire.block()
        if lines is None:
            raise _Gone
        message = "\n".join(lines).strip("\n")
        if command != "SPEAK" and "\n" in message:
            self._wire.reply("305 DATA MORE THAN ONE LINE")
        elif not message or self._speaking.is_busy:
            self._wire.reply("301 ERROR CANT SPEAK")
        else:
            self._wire.reply("200 OK SPEAKING")
            self._speaking.begin(command, message, self._manner)

    def _take_settings(self) -> None:
        self._wire.reply("203 OK RECEIVING SETTINGS")
        found = self._parameters()
        if found is None:
            self._wire.reply(_BAD_SYNTAX)
            return
        manner = self._manner
        try:
            for name, value in found:
                manner = manner.with_value(name, value)
        except ValueError:
            self._wire.reply(_BAD_VALUE)
            return
        self._manner = manner
        self._wire.reply("203 OK SETTINGS RECEIVED")

    def _take_audio(self) -> None:
        """Take audio through the server only: Speech Dispatcher tries the other ways after a refusal."""
        self._wire.reply("207 OK RECEIVING AUDIO SETTINGS")
        found = self._parameters()
        if found is None:
            self._wire.reply(_BAD_SYNTAX)
        elif dict(found).get("audio_output_method") == "server":
            self._wire.reply("203 OK AUDIO INITIALIZED")
        else:
            self._wire.reply("300-audio is sent to Speech Dispatcher only", "300 MODULE ERROR")

    def _parameters(self) -> list[tuple[str, str]] | None:
        """Names and values up to the dot; None if a line has no value."""
        lines = self._wire.block()
        if lines is None:
            raise _Gone
        pairs = [line.partition("=") for line in lines if line]
        if not all(name and separator for name, separator, _ in pairs):
            return None
        return [(name, value) for name, _, value in pairs]


def main() -> None:
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s")
    config = read_config(Path(sys.argv[1])) if len(sys.argv) > 1 else ModuleConfig()
    Module(Wire(sys.stdin.buffer, sys.stdout.buffer), config).run()


if __name__ == "__main__":
    main()
