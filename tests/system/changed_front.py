"""An environment in which a server's front dies of certain texts, and waits before it loads a language if told to."""

import os
from pathlib import Path

POISONS = {"SIGABRT": "Read this and perish.", "SIGSEGV": "Read this and fall."}
"""The signal by which a front dies, and the text at which it does."""
LATE_POISON = " ".join([f"The sentence with number {number} is harmless." for number in range(20)] + ["Now drop."])
"""The text of which a front dies at its last sentence, once its answer has begun."""

_CODE = """
import os, signal, sys, threading, time
begun = threading.Event()
def say(what):
    print(f"{{what}} in {{os.getpid()}}", file=sys.stderr, flush=True)
class Change:
    def find_spec(self, name, path=None, target=None):
        if name == "frontend.scheduling.scheduler":
            from frontend.contract.in_flight import InFlight
            from frontend.planning.reader import Reader
            from shm.in_flight import TextInFlight
            from text import g2p
            read, load, answering, words = Reader._sentences, g2p._load, InFlight.answering, g2p.G2P.words
            def deadly(self, request, *others):
                for name, text in {poisons!r}.items():
                    if request.text == text:
                        os.kill(os.getpid(), signal.Signals[name])
                for number, sentence in enumerate(read(self, request, *others)):
                    if number == 20 and request.text == {late!r}:
                        begun.wait(1.0)
                        os.kill(os.getpid(), signal.SIGABRT)
                    yield sentence
            left = TextInFlight.audio_left
            def audio_left(self):
                left(self)
                begun.set()
            TextInFlight.audio_left = audio_left
            def held(code):
                if os.path.exists({hold!r}):
                    say("loading a language")
                while os.path.exists({hold!r}):
                    time.sleep(0.01)
                return load(code)
            def told(self, text, **more):
                if os.path.exists({hold!r}):
                    say("answering")
                return answering(self, text, **more)
            def reading(self, sentence, language):
                if os.path.exists({hold!r}):
                    say("reading")
                return words(self, sentence, language)
            Reader._sentences, g2p._load, InFlight.answering, g2p.G2P.words = deadly, held, told, reading
        return None
sys.meta_path.insert(0, Change())
"""


def changed_front(folder: Path, hold: Path) -> dict[str, str]:
    """An environment whose fronts die of `POISONS`.

    `hold`: while this file is there, no front loads a language, and each logs where it is: answering, loading a
    language, reading.
    """
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(_CODE.format(poisons=POISONS, late=LATE_POISON, hold=str(hold)))
    return {"PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
