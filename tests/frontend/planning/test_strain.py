"""A machine under strain plans with reserve: imitated /sys, and a worker that slows down as such machines do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from frontend.contract.request import SpeechRequest
from frontend.planning.costs import Ledger
from frontend.planning.planner import plan
from frontend.planning.profile import CostProfile
from frontend.planning.strain import MOST, RESERVE, SELDOM, Strain
from tests.frontend.plans import KOKORO, LIMITS, WINDOWED, sentence, words_of
from tests.frontend.scripted_worker import ENGINE
from text.words.segment import Segment

pytestmark = pytest.mark.usefixtures("linux")

CPU = "devices/system/cpu"
FREE = {
    "class/power_supply/BAT0/type": "Battery",
    "class/power_supply/BAT0/status": "Charging",
    "class/power_supply/AC/type": "Mains",
    "class/power_supply/mouse/type": "Battery",
    "class/power_supply/mouse/scope": "Device",
    "class/power_supply/mouse/status": "Discharging",
    "class/thermal/cooling_device0/type": "Processor",
    "class/thermal/cooling_device0/cur_state": "0",
    "class/thermal/cooling_device1/type": "Fan",
    "class/thermal/cooling_device1/cur_state": "3",
    "firmware/acpi/platform_profile": "balanced",
    f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "17",
    f"{CPU}/cpufreq/policy0/cpuinfo_max_freq": "4000000",
    f"{CPU}/cpufreq/policy0/scaling_max_freq": "4000000",
}


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontend.planning.strain.sys.platform", "linux")


class Machine:
    """An imitated /sys, and its time."""

    def __init__(self, folder: Path, files: Mapping[str, str] = FREE) -> None:
        self.folder, self.now = folder, 0.0
        self.says(files)
        self.strain = Strain(folder, lambda: self.now)

    def says(self, files: Mapping[str, str]) -> None:
        for name, content in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(content + "\n")

    def later(self, files: Mapping[str, str]) -> Strain:
        """The strain at the next look."""
        self.says(files)
        self.now += SELDOM
        return self.strain


@pytest.mark.parametrize("files", [{}, FREE])
def test_a_free_machine_has_no_sign_and_no_reserve(files: dict[str, str], tmp_path: Path) -> None:
    strain = Machine(tmp_path, files).strain
    assert (strain.signs, strain.reserve) == ((), 1.0)


@pytest.mark.parametrize(
    ("file", "content", "sign", "reserve"),
    [
        ("class/power_supply/BAT0/status", "Discharging", "on battery", RESERVE),
        ("firmware/acpi/platform_profile", "low-power", "power profile low-power", RESERVE),
        ("class/thermal/cooling_device0/cur_state", "2", "hot", RESERVE),
        (f"{CPU}/cpu0/thermal_throttle/core_throttle_count", "18", "hot", RESERVE),
        (f"{CPU}/cpufreq/policy0/scaling_max_freq", "2500000", "clocks of at most 62%", 1.6),
        (f"{CPU}/cpufreq/policy0/scaling_max_freq", "400000", "clocks of at most 10%", MOST),
    ],
)
def test_each_sign_gives_a_reserve_while_it_lasts(
    file: str, content: str, sign: str, reserve: float, tmp_path: Path
) -> None:
    machine = Machine(tmp_path)
    assert not machine.strain.signs
    machine.says({file: content})
    assert not machine.strain.signs, "looked at again too soon"
    strained = machine.later({})
    assert [each.startswith(sign) for each in strained.signs] == [True]
    assert strained.reserve == pytest.approx(reserve)
    throttling = file.endswith("count")  # counts only grow: that it grows no more is the end of it
    assert machine.later({} if throttling else FREE).reserve == 1.0


def test_new_texts_are_planned_with_the_reserve_and_old_ones_as_before(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    old, new = (SpeechRequest("id", text, (("af_heart", 1.0),), "en-us", 1.0) for text in ("old", "new"))
    ledger = Ledger(strain=machine.strain)
    present = ledger.profile_for(ENGINE, old)
    machine.later({"class/power_supply/BAT0/status": "Discharging"})
    assert ledger.profile_for(ENGINE, old) == present
    assert ledger.profile_for(ENGINE, new) == present.slowed(RESERVE) != present
    assert Ledger(adapts=False, strain=machine.strain).profile_for(ENGINE, new) == present


def silence(segments: Sequence[Segment], machine: CostProfile) -> float:
    """Seconds for which a listener hears nothing after the first sound, if segments are made one after the other."""
    clock = ends = silent = 0.0
    for segment in segments:
        sounds = clock + machine.first_audio(segment.tokens, 1.0)
        clock += machine.seconds(segment.tokens, 1.0)
        silent += max(sounds - ends, 0.0) if ends else 0.0
        ends = max(ends, sounds) + machine.audio(segment.tokens, 1.0)
    return silent


@pytest.mark.parametrize("slower", [1.3, 1.6])
def test_a_worker_that_slows_down_by_as_much_runs_dry_less_often(slower: float) -> None:
    """A machine not much faster than speech: what it may be off by is what the reserve is for."""
    profile = replace(WINDOWED, per_token=0.02, per_audio=0.45)
    texts = [sentence(f"{words_of(short)}, {words_of(30)}, {words_of(long)}.") for short in (2, 8) for long in (50, 90)]
    slowed = profile.slowed(slower)
    without, kept = (
        silence(list(plan(texts, planned, 1.0, KOKORO, LIMITS)), slowed)
        for planned in (profile, profile.slowed(max(RESERVE, slower)))
    )
    assert kept < without
