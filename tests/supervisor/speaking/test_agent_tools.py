"""The tools of `kokoro-live mcp` over a player that only notes what it is told."""

from typing import Any

import pytest


class Player:
    """Every text waits for ever."""

    def __init__(self) -> None:
        self.queue: list[dict[str, Any]] = []
        self.ended: list[str] = []

    def ask_to_play(self, body: dict[str, Any]) -> dict[str, Any]:
        self.queue.append({"id": f"text-{len(self.queue)}"})
        return {**self.queue[-1], "position_in_queue": len(self.queue)}

    def state(self) -> dict[str, Any]:
        return {"state": "playing", "id": "another agent's", "queue": self.queue}

    def end(self, name: str) -> None:
        self.ended.append(name)


def test_the_texts_of_weeks_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from supervisor.speaking import agent_tools  # imports `mcp`, a second of a core

    monkeypatch.setattr(agent_tools, "_REMEMBERED", 2)
    tools, player = agent_tools.AgentTools("http://127.0.0.1:1"), Player()
    monkeypatch.setattr(tools, "_player", player)
    for _ in range(3):
        tools.speak("Hello.")
    tools.stop()
    assert player.ended == ["text-2", "text-1"], "the last first"
    tools.stop()
    assert len(player.ended) == 2
