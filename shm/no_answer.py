"""The reason why a server gave no answer, in one line, for the programs that ask one over HTTP."""

from __future__ import annotations

import os


def reason_of(error: Exception) -> str:
    """The reason without the HTTP library's own words about sockets.

    Args:
        error: an error of aiohttp, of the system, or a timeout.
    """
    import aiohttp  # at first use: the import costs 0.15 s

    match error:
        case aiohttp.ClientConnectorDNSError():
            return "there is no host of that name"
        case aiohttp.ClientConnectorCertificateError():
            return "its certificate isn't trusted"
        case aiohttp.ClientSSLError():
            return "it doesn't speak HTTPS; an address without encryption begins with http://"
        case aiohttp.ClientConnectorError():
            return os.strerror(error.os_error.errno).lower() if error.os_error.errno else "it can't be connected to"
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return "that is no http:// address"
        case TimeoutError():
            return "nothing came in time"
        case aiohttp.ServerDisconnectedError():
            return "it closed the connection"
        case aiohttp.ClientPayloadError():
            return "its answer broke off"
        case aiohttp.ClientResponseError():
            return "it doesn't speak HTTP"
    return " ".join(str(error).split()) or type(error).__name__
