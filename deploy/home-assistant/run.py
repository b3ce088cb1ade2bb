"""Start of the Home Assistant app: the user's options become variables, Home Assistant is told, the server starts.

The supervisor writes the options to /data/options.json and runs this as root; the server runs as user 10001.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

DATA = Path("/data")
USER = 10001
WYOMING = 10200
PATIENCE = 600
"""Seconds in which the server has to listen. Its first start cuts the model into stages."""


def variables(options: Mapping[str, object], data: Path = DATA) -> dict[str, str]:
    """The server's environment for these options. HTTP is for this container alone unless there is a key."""
    chosen = {f"KOKORO_LIVE_{name.upper()}": str(value) for name, value in options.items() if value not in ("", None)}
    return {
        "HOME": str(data / "home"),
        "XDG_CACHE_HOME": str(data / "cache"),
        "XDG_STATE_HOME": str(data / "state"),
        "KOKORO_LIVE_MODEL_DIR": str(data / "models"),
        "KOKORO_LIVE_HOST": "0.0.0.0" if "KOKORO_LIVE_API_KEYS" in chosen else "127.0.0.1",
        "KOKORO_LIVE_WYOMING_HOST": "0.0.0.0",
        "KOKORO_LIVE_WYOMING_PORT": str(WYOMING),
        **chosen,
    }


def announce(token: str, url: str = "http://supervisor/discovery", host: str = "", port: int = WYOMING) -> None:
    """Wait until the Wyoming port is open, then tell the supervisor, which tells Home Assistant."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            if time.monotonic() > end:
                return
            time.sleep(1)
    uri = f"tcp://{host or socket.gethostname()}:{port}"
    body = json.dumps({"service": "wyoming", "config": {"uri": uri}}).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=10).close()
    except OSError as error:
        print(f"Home Assistant can't be told of {uri}: {error}", file=sys.stderr, flush=True)


def main() -> None:
    environment = os.environ | variables(json.loads((DATA / "options.json").read_text()))
    token = environment.pop("SUPERVISOR_TOKEN", "")
    for name in ("home", "cache", "state", "models"):
        (DATA / name).mkdir(exist_ok=True)
        os.chown(DATA / name, USER, USER)
    # A process of its own tells of the server, which takes this process over and its signals with it.
    if token and os.fork() == 0:
        announce(token)
        os._exit(0)
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    os.execvpe("kokoro-live", ["kokoro-live", "serve"], environment)


if __name__ == "__main__":
    main()
