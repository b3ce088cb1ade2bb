"""Making a variant of a model file: read, converted, written beside, judged, and only then given its name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import onnxruntime

from worker.checksum_cache import cached_sha256_of
from worker.engine import EngineError, EngineUnavailable
from worker.quantization.dynamic import quantized_dynamically
from worker.quantization.error import QuantizationError
from worker.quantization.half import halve_vocoder, halved
from worker.quantization.kinds import Kind
from worker.quantization.metadata import append_properties, properties_of
from worker.quantization.quality import PREFIX, Quality, compare, spread_out
from worker.quantization.regions import is_quantized, prosody_nodes
from worker.quantization.renderer import Renderer
from worker.quantization.sentences import calibration
from worker.quantization.static import GeneratorInputs, quantize_generator
from worker.quantization.surgery import name_nodes
from worker.quantization.variants import SOURCE, VARIANT
from worker.quantization.weight_only import with_small_weights
from worker.settings import WorkerSettings
from worker.split.cuts import find_cuts
from worker.split.graph import CannotSplit, Graph, load_graph
from worker.split.prepared import Unprepared
from worker.voices import VoiceBank

CALIBRATION_VOICES = 8

Progress = Callable[[str, float], None]
"""Called with what is being done, and the share of it that is done, 0 to 1."""


def variant_path(model: Path, kind: Kind) -> Path:
    """Beside the model: `kokoro-v1.0.static-int8.onnx`."""
    return model.with_name(f"{model.stem}.{kind}.onnx")


def make_variant(
    kind: Kind,
    model: Path,
    voices: Path,
    out: Path,
    settings: WorkerSettings,
    *,
    reduced: bool,
    check: bool = True,
    progress: Progress | None = None,
) -> Quality | None:
    """Write `out`, whole or not at all; a file that is there is replaced.

    Args:
        kind: which variant.
        model: the full-precision model.
        voices: its voices, to calibrate and judge with.
        out: the file to write.
        settings: threads, and the cache that has the model's stages.
        reduced: use 7 bits of each int8 weight (`worker.quantization.processor`).
        check: measure the variant's quality, which is then kept in the file.
        progress: hears how far it is.

    Returns:
        Its quality, if that was asked for.

    Raises:
        QuantizationError: it can't be made; the message says why.
    """
    tell = progress or (lambda _what, _share: None)
    try:
        return _made(kind, model, voices, out, settings, reduced, check, tell)
    except (CannotSplit, Unprepared) as error:
        raise QuantizationError(
            f"{model} can't be quantised: {error}. Name a full-precision export of Kokoro with --model, or run "
            "`kokoro-live models fetch`"
        ) from error
    except (EngineError, EngineUnavailable) as error:
        raise QuantizationError(str(error)) from error
    except OSError as error:
        raise QuantizationError(
            f"{out} can't be written: {error.strerror or error}. Nothing is left of it; make room, or name "
            "another place with --out"
        ) from error


def _made(
    kind: Kind,
    model: Path,
    voices: Path,
    out: Path,
    settings: WorkerSettings,
    reduced: bool,
    check: bool,
    tell: Progress,
) -> Quality | None:
    if not model.is_file():
        raise QuantizationError(f"there is no model file {model}: run `kokoro-live models fetch`, or name another")
    if out.exists() and out.samefile(model):
        raise QuantizationError(f"{out} is the model itself: name another file with --out")
    tell("reading", 0.0)
    graph = load_graph(model)
    said = {entry.key: entry.value for entry in graph.model.metadata_props}
    if VARIANT in said or is_quantized(graph):
        raise QuantizationError(
            f"{model} is quantised already ({said.get(VARIANT, 'by somebody else')}): name the full-precision model"
        )
    converted = _converted(kind, graph, lambda: _speech(model, voices, settings, tell), reduced, tell)
    properties = {
        VARIANT: str(kind),
        SOURCE: cached_sha256_of(model),
        f"{PREFIX}onnxruntime": onnxruntime.__version__,
        f"{PREFIX}reduce_range": str(int(reduced)),
    }
    onnx.helper.set_model_props(converted, said | properties)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder:
        unfinished = Path(folder) / out.name
        tell("writing", 0.0)
        onnx.save(converted, unfinished)
        del graph, converted
        quality = None
        if check:
            quality = compare(
                model,
                unfinished,
                voices,
                settings,
                cache=Path(folder),
                progress=lambda share: tell("judging", share),
            )
            append_properties(unfinished, quality.as_properties())
        properties_of(unfinished)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(out)
    tell("done", 1.0)
    return quality


def _converted(
    kind: Kind, graph: Graph, speech: Callable[[], Iterator[GeneratorInputs]], reduced: bool, tell: Progress
) -> Any:
    """The model that the variant is, without what it says of itself."""
    name_nodes(graph)
    cuts = find_cuts(graph)
    tell("converting", 0.0)
    match kind:
        case Kind.DYNAMIC:
            return quantized_dynamically(graph.model, per_channel=False, reduced=reduced)
        case Kind.DYNAMIC_PER_CHANNEL:
            return quantized_dynamically(graph.model, per_channel=True, reduced=reduced)
        case Kind.DYNAMIC_MATMUL:
            return quantized_dynamically(graph.model, per_channel=True, reduced=reduced, operators=["MatMul"])
        case Kind.STATIC_INT8:
            quantize_generator(graph, cuts, speech(), reduced)
            return graph.model
        case Kind.STATIC_INT8_PROSODY:
            prosody = [graph.nodes[place] for place in prosody_nodes(graph, cuts)]
            names = [node.name for node in prosody if node.op_type == "MatMul"]
            quantize_generator(graph, cuts, speech(), reduced)
            return quantized_dynamically(
                graph.model, per_channel=True, reduced=reduced, operators=["MatMul"], nodes=names
            )
        case Kind.FP16:
            return halved(graph.model)
        case Kind.MIXED_FP16:
            halve_vocoder(graph, cuts)
            return graph.model
        case Kind.WEIGHT_ONLY:
            return with_small_weights(graph)


def _speech(model: Path, voices: Path, settings: WorkerSettings, tell: Progress) -> Iterator[GeneratorInputs]:
    """What the full-precision generator takes when voices in turn speak the sentences to calibrate with."""
    bank = VoiceBank.open(voices)
    renderer = Renderer(model, bank, settings, settings.cache_dir)
    names = spread_out(bank.names, CALIBRATION_VOICES)
    for number, script in enumerate(calibration()):
        tell("calibrating", number / len(calibration()))
        prosody = renderer.prosody(script, names[number % len(names)])
        yield renderer.generator_inputs(prosody, seed=number)
