"""The player of a machine that has nothing to play on."""

from tests.system.shared import SharedServer


def test_a_machine_without_a_sound_card_says_so(plain: SharedServer) -> None:
    """`test_metrics` shows that the same server ends with 0."""
    mute = plain.calm()
    status, answer = mute.post("/v1/play", {"input": "Hello."})
    assert (status, answer["error"]["code"]) == (501, "no_sound_card")
    _, report = mute.get("/status")
    assert report["player"]["output"] == "" and report["player"]["reason"] in answer["error"]["message"]
    assert mute.get("/v1/play")[1]["state"] == "idle"
