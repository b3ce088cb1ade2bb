"""What is measured stays measured, of the same files in the same way."""

import pytest

from benchmarks.variant_journal import Journal

KEY = {"files": {"original": "abc"}, "repeats": 2}
WAY = (1, "windowed")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "measured.json"


def test_a_round_is_there_for_the_next_command(file):
    Journal(file, KEY).add(0, WAY, {"original": {"rtf": 0.5}, "broken": "no such file"})
    again = Journal(file, KEY)
    assert again.rounds == 1
    assert again.get(0, WAY) == {"original": {"rtf": 0.5}, "broken": "no such file"}
    assert again.get(1, WAY) is again.get(0, (2, "windowed")) is None


def test_what_was_measured_of_other_files_is_not_taken(file):
    Journal(file, KEY).add(0, WAY, {"original": {"rtf": 0.5}})
    assert Journal(file, KEY | {"files": {"original": "def"}}).rounds == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"key": {}}'])
def test_a_damaged_one_is_begun_anew(file, content):
    file.write_bytes(content)
    assert Journal(file, KEY).rounds == 0


def test_after_the_last_round_it_is_gone(file):
    journal = Journal(file, KEY)
    journal.add(0, WAY, {})
    journal.forget()
    assert Journal(file, KEY).rounds == 0 and not file.exists()
