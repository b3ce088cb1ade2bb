"""Segments that are kept from killing more workers."""

from __future__ import annotations

from frontend.quarantine import Quarantine, fingerprint

VOICE = (("af_heart", 1.0),)


def test_a_member_is_kept_for_its_time_and_no_longer() -> None:
    now = 100.0
    quarantine = Quarantine(10.0, lambda: now)
    quarantine.add(b"poison")
    assert b"poison" in quarantine and len(quarantine) == 1
    now = 109.9
    assert b"poison" in quarantine
    now = 110.0
    assert b"poison" not in quarantine and len(quarantine) == 0


def test_one_that_is_added_again_begins_anew() -> None:
    now = 0.0
    quarantine = Quarantine(10.0, lambda: now)
    quarantine.add(b"poison")
    quarantine.add(b"other")
    now = 8.0
    quarantine.add(b"poison")
    now = 12.0
    assert b"poison" in quarantine and b"other" not in quarantine


def test_the_same_work_is_the_same_and_other_work_is_not() -> None:
    work = ("kokoro 1", "həlˈO", VOICE, 1.0)
    assert fingerprint(*work) == fingerprint(*work)
    others = [
        ("kokoro 2", "həlˈO", VOICE, 1.0),
        ("kokoro 1", "həlˈO.", VOICE, 1.0),
        ("kokoro 1", "həlˈO", (("am_adam", 1.0),), 1.0),
        ("kokoro 1", "həlˈO", VOICE, 1.1),
    ]
    assert fingerprint(*work) not in {fingerprint(*other) for other in others}
