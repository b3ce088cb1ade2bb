"""`Host` and `Origin` headers that belong to the server, and those that don't."""

import base64
import json
from hashlib import sha256

import pytest

from frontend.serving.gate import is_loopback, network
from frontend.settings.access import OWN_EXTENSION, Hosts, Origins
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
