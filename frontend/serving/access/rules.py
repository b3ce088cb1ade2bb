"""The degrees of access that a route can demand where API keys are configured."""

from __future__ import annotations

from enum import Enum


class Access(Enum):
    """The clients that a route answers."""

    OPEN = "open"
    """Every client: probes that have no key, and public pages."""
    NEAR = "near"
    """Clients on this machine, and others with a key. Open WebUI asks for models and voices without its key."""
    KEY = "key"
    """Clients with a key."""
    LOCAL = "local"
    """Clients on this machine where no key is configured, else clients with a key. For a GET that makes work: a link
    or a player can follow it, so it is also refused to pages of other sites."""
    HERE = "here"
    """Clients as for `LOCAL`; for routes that control this machine's loudspeakers. A GET among them only reads, so
    it doesn't count against a client's rate."""
    SOCKET = "socket"
    """Clients with a key, which a socket may send in its first message: a web page can't set its upgrade's headers. The
    handler checks that message (`frontend.serving.access.identity.KEY_DUE`)."""
