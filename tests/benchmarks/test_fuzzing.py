"""Every parser of foreign bytes reads the fuzzer's kept inputs, or refuses them with an error of its own."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzzing import files
from benchmarks.fuzzing.__main__ import FIFTH, begun, ended, fuzz, shares
from benchmarks.fuzzing.target import CORPUS, Target, from_line, judged, to_line
from benchmarks.fuzzing.targets import BY_NAME, TARGETS


@pytest.mark.parametrize("name", BY_NAME)
def test_the_kept_inputs_are_read_or_refused(name: str) -> None:
    target = BY_NAME[name]
    inputs = target.inputs()
    assert inputs
    found = [found for data in inputs if (found := judged(target, data))]
    assert not found, "\n".join(f"{each.key}: {each.data!r}\n{each.story}" for each in found)


def test_every_file_of_the_corpus_belongs_to_a_target() -> None:
    assert {file.stem for file in CORPUS.glob("*")} <= BY_NAME.keys()
    assert len(BY_NAME) == len(TARGETS)


@given(st.binary())
def test_an_input_is_one_line_and_comes_back(data: bytes) -> None:
    line = to_line(data)
    assert line.isascii() and "\n" not in line and from_line(line) == data


def test_a_killed_process_leaves_no_folder_behind_for_long() -> None:
    read, write = os.pipe()
    child = begun(lambda: (os.write(write, bytes(files.scratch())), signal.pause()))
    left, own = Path(os.read(read, 256).decode()), files.scratch()
    files.remove_abandoned()
    assert left.is_dir(), "its process lives"
    os.kill(child, signal.SIGKILL)
    ended(child)
    files.remove_abandoned()
    assert own.is_dir() and not left.exists()


def test_an_exception_of_another_kind_is_a_finding() -> None:
    target = Target("t", lambda data: int(data), list, (TypeError,))
    assert judged(target, b"1") is None
    found = judged(target, b"x")
    assert found is not None and found.key.startswith("ValueError at test_fuzzing.py:") and found.data == b"x"


@pytest.mark.parametrize(("power", "seconds_per_byte", "key"), [(2, 1.0, "grows"), (2, 1e-7, "slow"), (1, 1.0, "")])
def test_time_that_grows_with_the_square_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, power: int, seconds_per_byte: float, key: str
) -> None:
    """With a generous limit too."""

    def parse(data: bytes) -> None:
        for _ in range(len(data) // 32 if power == 2 else 2000):
            data.count(b"xx")

    monkeypatch.setattr("benchmarks.fuzzing.target.SECONDS", 0.01)
    target = Target("t", parse, list, stretched=1 << 16, seconds_per_byte=seconds_per_byte)
    found = next(filter(None, (judged(target, b"abc%d" % each) for each in range(200))), None)
    assert (found.key if found else "") == key
    assert not found or len(found.data) > 1 << 16


def test_each_target_has_a_longer_turn_at_one_of_five_seeds_and_no_process_has_all_of_them() -> None:
    turns = [shares([*BY_NAME], 2.0, 60.0, seed) for seed in range(7, 7 + FIFTH)]
    assert [sum(turn[name] for turn in turns) for name in BY_NAME] == [4 * 2.0 + 60.0] * len(BY_NAME)
    for turn in turns:
        first, second = (sum([*turn.values()][number::2]) for number in range(2))
        assert abs(first - second) <= 60.0


def test_the_fuzzer_finds_a_word_that_no_seed_has(tmp_path: Path) -> None:
    atheris = pytest.importorskip("atheris", reason="the fuzzer is built for Linux on x86-64")

    @atheris.instrument_func  # type: ignore[untyped-decorator]
    def parse(data: bytes) -> None:
        if data[:1] == b"b" and data[1:2] == b"o" and data[2:3] == b"m" and data[3:4] == b"b":
            raise KeyError("found")

    executed, findings = fuzz(Target("t", parse, lambda: [b"aaaa"]), tmp_path, seconds=20, seed=1, until_found=True)
    assert executed > 100
    assert [each.split(" at ")[0] for each in findings] == ["KeyError"]
