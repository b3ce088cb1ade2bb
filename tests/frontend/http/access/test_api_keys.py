"""Keys: which are taken, how a file of them is followed, and that no key is ever repeated."""

import hmac
import logging
import os
from pathlib import Path

import pytest

from frontend.settings.access import ApiKeys, BadKey, read_keys
from frontend.settings.front import FrontSettings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text("# the kitchen's\nkitchen-1\n\n  attic-22  \n")
    path.chmod(0o600)
    return path


def test_each_key_is_a_client_of_its_own() -> None:
    keys = ApiKeys(["one", "two"], None)
    assert keys.demanded
    first, second = keys.match("one"), keys.match("two")
    assert first and second and first != second
    assert first == keys.match("one")
    for other in ("", "on", "one ", "ONE", "oneone", "\udcff", "three"):
        assert keys.match(other) is None


def test_every_key_is_compared_whichever_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []
    real = hmac.compare_digest

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(other)
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    keys = ApiKeys(["one", "two", "three"], None)
    for offered in ("one", "three", "none"):
        compared.clear()
        keys.match(offered)
        assert len(set(compared)) == 3


def test_without_keys_nobody_needs_one() -> None:
    assert not ApiKeys([], None).demanded


def test_a_file_has_a_key_a_line(file: Path) -> None:
    keys = ApiKeys(["given"], file)
    assert keys.match("given") and keys.match("kitchen-1") and keys.match("attic-22")
    assert keys.match("# the kitchen's") is None and keys.match("") is None


def test_a_file_that_changes_is_read_again(file: Path) -> None:
    keys = ApiKeys([], file)
    assert keys.match("kitchen-1")
    replacement = file.with_suffix(".new")
    replacement.write_text("cellar-3\n")
    replacement.replace(file)
    assert keys.match("cellar-3")
    assert keys.match("kitchen-1") is None


@pytest.mark.parametrize("damage", ["gone", "two words\n"])
def test_a_file_that_goes_bad_leaves_the_keys_as_they_were_and_says_so_once(
    file: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    keys = ApiKeys([], file)
    assert keys.match("kitchen-1")
    if damage == "gone":
        file.unlink()
    else:
        file.write_text(damage)
    for _ in range(3):
        assert keys.match("kitchen-1") and keys.demanded
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert str(file) in record.getMessage() and "words" not in record.getMessage()


@pytest.mark.parametrize("content", ["", "# kitchen-1\n"])
def test_an_emptied_file_revokes_its_keys_and_says_so_once(
    file: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its owner wants nobody in: not those who were in before, and not everybody."""
    keys = ApiKeys(["given"], file)
    assert keys.match("kitchen-1")
    file.write_text(content)
    for _ in range(3):
        assert keys.match("kitchen-1") is None and keys.match("given") and keys.demanded
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "revoked" in record.getMessage()
    file.write_text("cellar-3\n")
    assert keys.match("cellar-3")


def test_a_file_that_was_never_there_lets_nobody_in(tmp_path: Path) -> None:
    keys = ApiKeys([], tmp_path / "absent")
    assert keys.demanded and keys.match("anything") is None


def test_a_file_that_everybody_can_read_is_warned_of(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    ApiKeys([], file).match("x")
    assert not [record for record in caplog.records if record.levelno == logging.WARNING]
    file.chmod(0o644)
    keys = ApiKeys([], file)
    assert keys.match("kitchen-1") and keys.match("kitchen-1")
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "chmod 600" in record.getMessage()


def test_no_key_is_logged_or_shown(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ApiKeys([], file).match("kitchen-1")
    assert caplog.records and "kitchen-1" not in caplog.text
    assert "sesame" not in repr(FrontSettings(api_keys=("sesame",)))


@pytest.mark.parametrize("key", ["with space", "a,b", "ümlaut", "x" * 257, "tab\there", ""])
def test_a_key_that_no_client_could_send_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(ValueError, match="api_keys: key 2 must be") as caught:
        FrontSettings(api_keys=("fine", key))
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize(("content", "complaint"), [(b"# none\n", "no key in it"), (b"\xff", "not UTF-8")])
def test_a_file_without_keys_is_refused_by_name(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "keys"
    path.write_bytes(content)
    with pytest.raises(BadKey, match=complaint):
        read_keys(path)
    with pytest.raises(BadKey, match=os.strerror(2)):
        read_keys(tmp_path / "absent")


@pytest.mark.parametrize("change", ["content", "time"])
def test_a_key_that_is_replaced_by_one_of_the_same_length_is_noticed(file: Path, change: str) -> None:
    """An editor writes into the file itself: the same name, the same inode, and often the same length."""
    keys = ApiKeys([], file)
    assert keys.match("kitchen-1")
    before = file.stat()
    file.write_text(file.read_text().replace("kitchen-1", "kitchen-2") if change != "time" else file.read_text())
    assert file.stat().st_size == before.st_size and file.stat().st_ino == before.st_ino
    # The clock of a file system may tick only every few milliseconds.
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 10_000_000))
    assert bool(keys.match("kitchen-2")) == (change != "time")
    assert bool(keys.match("kitchen-1")) == (change == "time")
