"""The reason why a server gave no answer, in one line, for the programs that ask one over HTTP."""

from __future__ import annotations

import os
import sys

START = "start one with `kokoro-live serve`"
"""The cure for a server that doesn't answer."""


def nobody(url: str, error: Exception) -> str:
    """The one sentence for a server that doesn't answer, with the cure."""
    return f"no server answers at {url} ({reason_of(error)}): {START}"


def reason_of(error: Exception) -> str:
    """The reason without the HTTP library's own words about sockets.

    Args:
        error: an error of aiohttp, of the standard library, of the system, or a timeout.
    """
    # An error of aiohttp's was raised by one who has imported it, which takes 0.15 s.
    return ("aiohttp" in sys.modules and _reason_of_aiohttp(error)) or _reason_of_system(error)


def _reason_of_aiohttp(error: Exception) -> str:
    import aiohttp

    match error:
        case aiohttp.ClientConnectorDNSError():
            return _NO_HOST
        case aiohttp.ClientConnectorCertificateError():
            return _NOT_TRUSTED
        case aiohttp.ClientSSLError():
            return _NOT_ENCRYPTED
        case aiohttp.ClientConnectorError():
            return os.strerror(error.os_error.errno).lower() if error.os_error.errno else "it can't be connected to"
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return _NO_URL
        case aiohttp.ServerDisconnectedError():
            return _CLOSED
        case aiohttp.ClientPayloadError():
            return _BROKE_OFF
        case aiohttp.ClientResponseError():
            return _NO_HTTP
    return ""


def _reason_of_system(error: Exception) -> str:
    import http.client
    import socket
    import ssl

    match error:
        case TimeoutError():
            return "nothing came in time"
        case socket.gaierror():
            return _NO_HOST
        case ssl.SSLCertVerificationError():
            return _NOT_TRUSTED
        case ssl.SSLError():
            return _NOT_ENCRYPTED
        case http.client.InvalidURL():
            return _NO_URL
        case http.client.RemoteDisconnected():
            return _CLOSED
        case http.client.IncompleteRead():
            return _BROKE_OFF
        case http.client.HTTPException():
            return _NO_HTTP
        case OSError(errno=int(number)):
            return os.strerror(number).lower()
    return " ".join(str(error).split()) or type(error).__name__


_NO_HOST = "there is no host of that name"
_NOT_TRUSTED = "its certificate isn't trusted"
_NOT_ENCRYPTED = "it doesn't speak HTTPS; an address without encryption begins with http://"
_NO_URL = "that is no http:// address"
_CLOSED = "it closed the connection"
_BROKE_OFF = "its answer broke off"
_NO_HTTP = "it doesn't speak HTTP"
