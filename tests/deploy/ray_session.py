"""A Ray of two replicas for a test, in a process of its own: prints what its clients got, as JSON.

python -m tests.deploy.ray_session PORT ARGUMENT…
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import importlib.util
import json
import shutil
import sys
import tempfile
import urllib.request
from pathlib import Path

import ray
from ray import serve

EXAMPLE = Path(__file__).parents[2] / "deploy" / "ray" / "speech.py"


TRIES = 4
"""Ray gives up after half a minute if the machine is busy; another try finds its files in memory."""


def started(environment: dict[str, str]) -> str:
    """Start Ray on this machine's loopback; its folder."""
    for left in reversed(range(TRIES)):
        folder = tempfile.mkdtemp(prefix="ray-")  # short: sockets lie below it
        try:
            ray.init(
                num_cpus=3,
                include_dashboard=False,
                log_to_driver=False,
                _node_ip_address="127.0.0.1",
                object_store_memory=100 << 20,
                _temp_dir=folder,
                runtime_env={"env_vars": environment},
            )
            return folder
        except Exception:
            ray.shutdown()
            shutil.rmtree(folder, ignore_errors=True)
            if not left:
                raise
    raise AssertionError


def main() -> None:
    port, arguments = int(sys.argv[1]), sys.argv[2:]
    spec = importlib.util.spec_from_file_location("speech", EXAMPLE)
    assert spec and spec.loader
    example = importlib.util.module_from_spec(spec)
    sys.modules["speech"] = example
    spec.loader.exec_module(example)
    root = str(Path(__file__).parents[2])
    environment = {"PYTHONPATH": f"{root}:{EXAMPLE.parent}", "KOKORO_LIVE_PACKAGED_MODEL": "0"}
    folder = started(environment)
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    two = example.Speech.options(num_replicas=2, autoscaling_config=None, ray_actor_options={"num_cpus": 0.1})
    serve.run(two.bind(arguments))

    def ask(path: str, body: dict[str, str] | None = None) -> bytes:
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return bytes(answer.read())

    def speak(number: int) -> str:
        return hashlib.sha256(
            ask("/v1/audio/speech", {"input": f"Replica test {number}.", "response_format": "pcm"})
        ).hexdigest()

    with concurrent.futures.ThreadPoolExecutor(4) as clients:
        heard = list(clients.map(speak, range(8)))
        statuses = [json.loads(answer) for answer in clients.map(lambda _: ask("/status"), range(24))]
    servers = sorted({status["processes"][0]["pid"] for status in statuses})
    print(json.dumps({"heard": heard, "servers": servers}))
    serve.shutdown()
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
