"""Environments in which a server's Kokoro engine behaves otherwise: it dies of a text, or rests before each one."""

import os
from pathlib import Path

from tests.frontend.segments import segments_of
from tests.system.oracle import NOTATION
from text.g2p import G2P
from text.pipeline import TextPipeline


def poisoned_by(folder: Path, text: str, more: str = "") -> dict[str, str]:
    """An environment in which a worker that begins `text` is killed.

    `more`: other code that each Python process runs at its start.
    """
    (segment,) = segments_of(TextPipeline(G2P()), text, "en-us", NOTATION)
    deadly = f"if utterance.script == {segment.script!r}: os.kill(os.getpid(), signal.SIGKILL)"
    return _environment(folder, deadly, more)


def slowed_by(folder: Path, seconds: float) -> dict[str, str]:
    """An environment in which a worker sleeps so long before each segment, and leaves the processors to others."""
    return _environment(folder, f"time.sleep({seconds})")


def _environment(folder: Path, at_first: str, more: str = "") -> dict[str, str]:
    """One with a module that Python imports at its start. `at_first`: a line that runs before each `utterance`."""
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os, signal, sys, time\n"
        "class Change:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'worker.loop.process':\n"
        "            import worker.engines.kokoro as engine\n"
        "            begin = engine.KokoroEngine.begin\n"
        "            def changed(self, utterance):\n"
        f"                {at_first}\n"
        "                return begin(self, utterance)\n"
        "            engine.KokoroEngine.begin = changed\n"
        "        return None\n"
        f"sys.meta_path.insert(0, Change())\n{more}"
    )
    return {"PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
