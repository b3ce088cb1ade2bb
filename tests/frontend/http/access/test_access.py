"""Access: `Host` and `Origin` headers, API keys and their file, and the token bucket of rates."""

import base64
import hmac
import json
import logging
import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.serving import gate as rate_limit
from frontend.serving.gate import RateLimit, is_loopback, network
from frontend.settings.access import OWN_EXTENSION, ApiKeys, BadKey, Hosts, Origins, read_keys
from frontend.settings.front import FrontSettings
from tests.rooms import ROOT

EXTENSION = ROOT / "clients" / "browser"
LOCAL_HOSTS = ["localhost", "LOCALHOST:8880", "localhost.", "127.0.0.1:8880", "127.1.2.3", "[::1]:1", "[::1]"]
CONTAINERS = ["host.docker.internal:8880", "host.containers.internal", "app.localhost:3000"]
STRANGERS = [
    "evil.example",
    "evil.example:8880",
    "localhost.evil.example",
    "evil-localhost",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "0x7f000001",
    "2130706433",
    "",
    "localhost@evil.example",
    "localhost/evil.example",
    "localhost evil.example",
    "[::1]evil.example",
    "localhost:x",
]


@pytest.mark.parametrize("host", [*LOCAL_HOSTS, *CONTAINERS, None])
def test_at_loopback_its_names_are_admitted(host: str | None) -> None:
    assert Hosts([]).admits(host, at_loopback=True)


@pytest.mark.parametrize("host", [*STRANGERS, "192.168.1.5", "8.8.8.8:80", "[2001:db8::1]", "0.0.0.0"])
def test_at_loopback_every_other_is_refused(host: str) -> None:
    assert not Hosts([]).admits(host, at_loopback=True)


@pytest.mark.parametrize("host", ["TTS.Example.com", "tts.example.com:443", "tts.example.com.", "localhost"])
def test_an_allowed_name_is_admitted_everywhere(host: str) -> None:
    hosts = Hosts(["tts.Example.com"])
    assert hosts.admits(host, at_loopback=True) and hosts.admits(host, at_loopback=False)
    assert not hosts.admits("evil.tts.example.com", at_loopback=True)


def test_elsewhere_any_name_is_admitted_unless_some_are_allowed() -> None:
    assert Hosts([]).admits("box.lan:8880", at_loopback=False)
    some = Hosts(["box.lan"])
    assert some.admits("box.lan:8880", at_loopback=False)
    assert some.admits("192.168.1.5:8880", at_loopback=False), "no page has an address as its name"
    assert not some.admits("evil.example", at_loopback=False)


LOCAL_PAGES = [
    *("http://localhost", "https://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:5173"),
    f"chrome-extension://{OWN_EXTENSION}",
]
STRANGE_PAGES = [
    "https://evil.example",
    "http://localhost.evil.example",
    "http://localhost:3000.evil.example",
    "http://evil.example:3000/http://localhost",
    "http://127.0.0.1.evil.example",
    "http://127.0.0.2",
    "ftp://localhost",
    "null",
    "",
    "chrome-extension://abcdef",
    f"chrome-extension://{OWN_EXTENSION}.evil.example",
    f"moz-extension://{OWN_EXTENSION}",
    f"https://{OWN_EXTENSION}",
    "http://localhost:3000, http://evil.example",
]


@pytest.mark.parametrize("origin", LOCAL_PAGES)
def test_pages_of_this_machine_may_use_it(origin: str) -> None:
    assert Origins([]).shares(origin) and Origins([]).trusts(origin, "localhost:8880")


@pytest.mark.parametrize("origin", STRANGE_PAGES)
def test_other_pages_may_not(origin: str) -> None:
    assert not Origins([]).shares(origin) and not Origins([]).trusts(origin, "localhost:8880")
    assert Origins(["*"]).shares(origin)


def test_our_extensions_id_is_the_hash_of_its_key() -> None:
    """Chromium's rule: the first 16 bytes of the SHA-256, with the letters from a to p for the digits from 0 to f."""
    key = json.loads((EXTENSION / "manifest.json").read_text())["key"]
    digits = sha256(base64.b64decode(key)).hexdigest()[:32]
    assert "".join(chr(ord("a") + int(digit, 16)) for digit in digits) == OWN_EXTENSION


def test_configured_pages_may_use_it() -> None:
    origins = Origins(["https://Example.com", "chrome-extension://abcdef", "null"])
    assert all(map(origins.shares, ["https://example.com", "chrome-extension://abcdef", "null"]))
    assert not any(map(origins.shares, ["http://example.com", "https://example.com:444", "https://a.example.com"]))


def test_its_own_page_may_have_it_work_and_reads_anyway() -> None:
    assert Origins([]).trusts("http://box.lan:8880", "box.lan:8880")
    assert not Origins([]).trusts("http://box.lan:9000", "box.lan:8880")
    assert not Origins([]).trusts("null", "")
    assert not Origins([]).shares("http://box.lan:8880")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cors_origins", "example.com"),
        ("cors_origins", "https://example.com/path"),
        ("cors_origins", "https://*.example.com"),
        ("allowed_hosts", "example.com:8880"),
        ("allowed_hosts", "http://example.com"),
        ("allowed_hosts", "*.example.com"),
    ],
)
def test_what_is_none_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: .* is no (host|origin)"):
        FrontSettings(**{name: (value,)})  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_loopback_addresses(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "localhost", "", None])
def test_others(address: str | None) -> None:
    assert not is_loopback(address)


def test_one_ipv6_client_is_one_client() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff:1") != network("2001:db8:0:1::1")
    assert network("10.0.0.1") == network("::ffff:10.0.0.1") != network("10.0.0.2")


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


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_minutes_worth_at_once_and_then_its_pace() -> None:
    clock = Clock()
    limit = RateLimit(30, clock)
    assert [limit.take("a") for _ in range(30)] == [0.0] * 30
    assert limit.take("a") == pytest.approx(2.0)
    assert limit.take("b") == 0.0, "another client is not held up"
    clock.now += 1.5
    assert limit.take("a") == pytest.approx(0.5)
    clock.now += 0.5
    assert limit.take("a") == 0.0
    clock.now += 3600
    assert sum(limit.take("a") == 0.0 for _ in range(100)) == 30, "what wasn't used isn't saved up beyond a minute"


@given(st.integers(1, 1000), st.lists(st.floats(0, 10), max_size=50))
def test_who_waits_as_long_as_told_is_taken(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    for pause in pauses:
        clock.now += pause
        while not (wait := limit.take("a")):
            pass
        assert 0 < wait <= 60 / per_minute + 1e-6
        clock.now += wait + 1e-6
        assert limit.take("a") == 0.0


@given(st.integers(1, 60), st.lists(st.floats(0, 5), max_size=100))
def test_no_more_than_the_limit_is_ever_taken(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    begun, taken = clock.now, 0
    for pause in pauses:
        clock.now += pause
        taken += limit.take("a") == 0.0
        assert taken <= per_minute + (clock.now - begun) * per_minute / 60 + 1e-6


def test_the_table_forgets_who_asked_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "CLIENTS", 3)
    limit = RateLimit(1, Clock())
    for client in ("a", "b", "c", "a", "d"):
        limit.take(client)
    assert limit.take("a") > 0 and limit.take("d") > 0
    assert limit.take("b") == 0.0, "forgotten, so it begins again"
