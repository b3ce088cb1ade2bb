"""The profile's file: whole, of its own case, and no older than it may be, or it isn't used."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import msgspec
import pytest

from frontend.planning.stored import read_profiles
from supervisor.tuning.chosen import Chosen, Provider, options
from supervisor.tuning.profile_file import (
    DAY,
    LIFETIMES,
    Key,
    Missing,
    ProfileFolder,
    TuningProfile,
    Unusable,
    days,
)
from worker.settings import WorkerSettings

KEY = Key(machine="a machine", onnxruntime="onnxruntime 1", model_sha256="ab" * 32, options={"threads": "2"})
NOW = 1_800_000_000.0


def profile(**changes: object) -> TuningProfile:
    made = TuningProfile(
        key=KEY,
        created=NOW,
        lifetime=LIFETIMES["7d"],
        chosen=Chosen(spinning=True, first_window=0.2, threads=0),
        model_sha256="ab" * 32,
        costs={"kokoro model.onnx CPU": {"per_token": 0.002, "audio_per_token": 0.07}},
        verdict="spinning on: 10.0% better on the holdout",
        trials=9,
    )
    return msgspec.structs.replace(made, **changes)


@pytest.fixture
def folder(tmp_path: Path) -> ProfileFolder:
    return ProfileFolder(tmp_path)


def test_what_was_written_is_read(folder: ProfileFolder) -> None:
    assert folder.empty()
    folder.write(profile())
    assert folder.fresh(KEY, NOW) == profile() and not folder.empty()
    assert folder.fresh(KEY, NOW).chosen.values() == {"spinning": True, "first_window": 0.2, "threads": 0}
    assert read_profiles(folder.costs_file(KEY))["kokoro model.onnx CPU"].per_token == 0.002
    assert len(list(folder.path.iterdir())) == 2, "something else was left"


@pytest.mark.parametrize(("ttl", "lasts"), [("24h", DAY), ("7d", 7 * DAY), ("30d", 30 * DAY)])
def test_a_profile_is_used_as_long_as_it_lives(folder: ProfileFolder, ttl: str, lasts: float) -> None:
    folder.write(profile(lifetime=LIFETIMES[ttl]))
    assert folder.fresh(KEY, NOW + lasts - 1)
    with pytest.raises(Unusable, match="old"):
        folder.fresh(KEY, NOW + lasts)
    assert folder.read(KEY)


def test_one_that_lives_for_good_is_used_for_good(folder: ProfileFolder) -> None:
    folder.write(profile(lifetime=LIFETIMES["never"]))
    assert folder.fresh(KEY, NOW + 1000 * DAY)
    assert folder.fresh(KEY, 0.0), "a machine without a clock of its own has just started"


def test_one_from_the_future_is_not_used(folder: ProfileFolder) -> None:
    folder.write(profile())
    assert folder.fresh(KEY, NOW - 60), "a clock that was set a little"
    with pytest.raises(Unusable, match="2 days from now"):
        folder.fresh(KEY, NOW - 2 * DAY)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("machine", "another", "another machine"),
        ("onnxruntime", "onnxruntime 2", "another onnxruntime"),
        ("model_sha256", "cd" * 32, "another model"),
        ("options", {}, "other settings"),
        ("format", 2, "another version"),
    ],
)
def test_another_case_has_no_profile_and_says_what_is_other(
    folder: ProfileFolder, part: str, value: object, said: str
) -> None:
    folder.write(profile())
    with pytest.raises(Missing, match=said):
        folder.fresh(msgspec.structs.replace(KEY, **{part: value}), NOW)


def test_without_any_the_cure_is_named(folder: ProfileFolder) -> None:
    with pytest.raises(Missing, match="kokoro-live tune"):
        folder.read(KEY)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"key": 1}', b"\xff", b'{"chosen": {"host": "0.0.0.0"}}'], ids=repr
)
def test_a_damaged_file_is_not_used(folder: ProfileFolder, content: bytes) -> None:
    folder.write(profile())
    folder.file(KEY).write_bytes(content)
    with pytest.raises(Unusable, match="can't be used"):
        folder.read(KEY)


def test_settings_that_tuning_never_chooses_make_a_file_unusable(folder: ProfileFolder) -> None:
    file = folder.write(profile())
    file.write_text(file.read_text().replace('"spinning": true', '"spinning": true, "host": "0.0.0.0"'))
    with pytest.raises(Unusable, match="host"):
        folder.read(KEY)


def test_a_file_that_was_copied_to_another_case_is_not_used(folder: ProfileFolder) -> None:
    other = msgspec.structs.replace(KEY, machine="another")
    folder.write(profile()).rename(folder.file(other))
    with pytest.raises(Unusable, match="another case"):
        folder.read(other)


def test_a_later_profile_takes_the_place_of_an_earlier_one(folder: ProfileFolder) -> None:
    folder.write(profile())
    folder.write(profile(created=NOW + 1))
    assert folder.read(KEY).created == NOW + 1
    assert folder.clear() == 1


def test_a_write_that_fails_leaves_what_was_there(folder: ProfileFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write(profile())

    def full(self: Path, target: Path) -> Path:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        folder.write(profile(created=NOW + 1))
    assert folder.read(KEY) == profile() and len(list(folder.path.iterdir())) == 2


def test_clearing_leaves_nothing(folder: ProfileFolder) -> None:
    assert folder.clear() == 0
    folder.write(profile())
    folder.write(profile(key=msgspec.structs.replace(KEY, machine="another")))
    (folder.path / f".{KEY.name}.json-abc").write_text("{")  # of a process that was killed
    folder.costs_file(msgspec.structs.replace(KEY, machine="a third")).write_text("{}")
    assert folder.clear() == 2
    assert not list(folder.path.iterdir()) and folder.empty()


def test_two_do_not_search_at_once(folder: ProfileFolder) -> None:
    with folder.searching():
        with pytest.raises(Unusable, match="another"), folder.searching():
            raise AssertionError
        assert folder.empty()
    with folder.searching():
        folder.write(profile())
    assert folder.read(KEY)


def test_only_what_decides_costs_counts_for_the_key() -> None:
    given = {
        "port": 9000,
        "workers": 1,
        "threads": 2,
        "model": Path("x.onnx"),
        "worker_qos": "utility",
        "spinning": False,
    }
    assert options(given) == {"threads": "2", "worker_qos": "utility", "spinning": "off"}


def test_the_providers_are_the_settings_own() -> None:
    assert get_args(Provider) == get_args(get_type_hints(WorkerSettings)["provider"])


@pytest.mark.parametrize(
    ("seconds", "said"), [(-5, "0 minutes"), (90, "2 minutes"), (7200, "2 hours"), (7 * DAY, "7 days")]
)
def test_ages_are_said_in_few_words(seconds: float, said: str) -> None:
    assert days(seconds) == said
