"""`python -m supervisor.speechd [CONFIG]`: the program that Speech Dispatcher starts."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from supervisor.speechd.config import ModuleConfig, read_config
from supervisor.speechd.module import Module
from supervisor.speechd.wire import Wire


def main() -> None:
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s")
    config = read_config(Path(sys.argv[1])) if len(sys.argv) > 1 else ModuleConfig()
    Module(Wire(sys.stdin.buffer, sys.stdout.buffer), config).run()


if __name__ == "__main__":
    main()
