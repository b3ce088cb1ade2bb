"""`kokoro-live tls make`: a certificate for this machine, and a local authority that vouches for it."""

from __future__ import annotations

import contextlib
import datetime
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import click

from supervisor.settings.supervisor import certificate_folder

LIFETIME = datetime.timedelta(days=820)
"""macOS believes no certificate that lasts longer than 825 days."""

_SYSTEM = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
"""Files of the authorities that a system believes: Debian's and Arch's, Fedora's, macOS's and Alpine's."""

LINES = """\
{names}

  serve over TLS                  kokoro-live serve --tls-port 8443
  programs in Python              export SSL_CERT_FILE={bundle}
  those that use requests         export REQUESTS_CA_BUNDLE={bundle}
  programs in Node                export NODE_EXTRA_CA_CERTS={authority}
  curl                            curl --cacert {authority} https://localhost:8443/health
  a browser, the whole system     have it trust {authority}

The authority's key was not kept: nobody can make another certificate that these programs would believe."""


@click.group()
def tls() -> None:
    """Certificates for https: and wss:."""


@tls.command()
@click.argument("names", nargs=-1)
def make(names: tuple[str, ...]) -> None:
    """Make a certificate for localhost and this machine's name, for `kokoro-live serve --tls-port`.

    NAMES are further names and addresses under which clients reach the server. A repeated call makes another authority
    too: clients read its file again. A running server takes the new certificate by itself.
    """
    try:
        import trustme
    except ImportError as error:
        from kokoro_live.installation import this_installation

        cure = this_installation().add("tls")
        raise click.ClickException(f"`kokoro-live tls make` needs the extra tls: {cure}") from error
    authority = trustme.CA(organization_name="kokoro-live", organization_unit_name=f"on {socket.gethostname()}")
    end = datetime.datetime.now(datetime.UTC) + LIFETIME
    wanted = list(dict.fromkeys((*_own_names(), *names)))
    try:
        made = authority.issue_cert(*wanted, not_after=end, organization_name="kokoro-live")
    except ValueError as error:
        raise click.UsageError(f"{' '.join(names)}: {error}") from error
    folder = certificate_folder()
    own = authority.cert_pem.bytes()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "key.pem").unlink(missing_ok=True)
    (folder / "key.pem").touch(0o600)
    (folder / "key.pem").write_bytes(made.private_key_pem.bytes())
    (folder / "certificate.pem").write_bytes(b"".join(blob.bytes() for blob in made.cert_chain_pems))
    (folder / "authority.pem").write_bytes(own)
    (folder / "authorities.pem").write_bytes(_system_authorities() + own)
    told = f"{folder / 'certificate.pem'} is for {', '.join(wanted)} until {end:%d %B %Y}."
    click.echo(LINES.format(names=told, bundle=folder / "authorities.pem", authority=folder / "authority.pem"))


def _own_names() -> Iterator[str]:
    """The names of this machine that a certificate may have."""
    yield from ("localhost", "127.0.0.1", "::1")
    short = socket.gethostname().partition(".")[0]
    for name in (socket.gethostname(), short, f"{short}.local"):
        with contextlib.suppress(UnicodeError):
            if name.encode("idna").decode().replace("-", "a").replace(".", "a").isalnum():
                yield name


def _system_authorities() -> bytes:
    """The authorities that this system believes: a program that is given a file believes no others."""
    usual = ssl.get_default_verify_paths().cafile
    for place in (usual, *_SYSTEM):
        with contextlib.suppress(OSError):
            if place and (found := Path(place).read_bytes()):
                return found + b"\n"
    return b""
