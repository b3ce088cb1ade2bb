"""What the tests of variants share."""

from pathlib import Path

import onnxruntime as ort

from tests.split_model import make_split_model, make_split_voices
from worker.providers.records import CPU
from worker.quantization.kinds import Kind
from worker.quantization.make import make_variant, variant_path
from worker.settings import WorkerSettings

SCRIPTS = ("həlˈO wˈɜɹld, həlˈO.", "wˌʌt tˈIm ɪz ɪt?", "jˈɛs, ˈI θˈɪŋk sˌO.")


_known: dict[tuple[Kind, bool, bool], bytes] = {}


class Made:
    """A small model, its voices, and variants of it, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = make_split_model(folder / "small.onnx", durations_output=True)
        self.voices = make_split_voices(folder / "voices.bin")
        self.settings = WorkerSettings(cache_dir=folder / "cache", threads=1)

    def make(self, kind: Kind, *, reduced: bool = False, check: bool = False, model: Path | None = None) -> Path:
        out = variant_path(model or self.model, kind)
        make_variant(kind, model or self.model, self.voices, out, self.settings, reduced=reduced, check=check)
        return out

    def have(self, kind: Kind, *, reduced: bool = False, check: bool = False) -> Path:
        """A variant of the small model, which some test may have made before."""
        if (kind, reduced, check) not in _known:
            _known[kind, reduced, check] = self.make(kind, reduced=reduced, check=check).read_bytes()
        out = variant_path(self.model, kind)
        out.write_bytes(_known[kind, reduced, check])
        return out

    def left(self) -> set[str]:
        """Names in the folder, other than what the tests put there."""
        return {file.name for file in self.folder.iterdir()} - {"small.onnx", "voices.bin", "cache", "checksums.json"}


def session(model: Path | bytes, *, optimized: Path | None = None) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if optimized:
        options.optimized_model_filepath = str(optimized)
    return ort.InferenceSession(model if isinstance(model, bytes) else str(model), options, providers=[CPU])
