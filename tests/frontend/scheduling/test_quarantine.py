"""Segments that are kept from killing more workers."""

from __future__ import annotations

from frontend.scheduling.shared import Quarantine


def test_a_member_is_kept_for_its_time_and_no_longer() -> None:
    now = 100.0
    quarantine = Quarantine(10.0, lambda: now)
    quarantine.add(b"poison")
    assert b"poison" in quarantine and len(quarantine) == 1
    now = 109.9
    assert b"poison" in quarantine
    now = 110.0
    assert b"poison" not in quarantine and len(quarantine) == 0


def test_one_that_is_added_again_begins_again() -> None:
    now = 0.0
    quarantine = Quarantine(10.0, lambda: now)
    quarantine.add(b"poison")
    quarantine.add(b"other")
    now = 8.0
    quarantine.add(b"poison")
    now = 12.0
    assert b"poison" in quarantine and b"other" not in quarantine
