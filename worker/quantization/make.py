"""Making a variant of a model file: read, converted, written beside, judged, and only then given its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from worker.checksum_cache import cached_sha256_of
from worker.engine import EngineError, EngineUnavailable
from worker.model_search import MODEL_NAMES
from worker.quantization.dynamic import quantized_dynamically
from worker.quantization.error import QuantizationError
from worker.quantization.half import halve_vocoder, halved
from worker.quantization.kinds import Kind
from worker.quantization.metadata import append_properties, properties_of
from worker.quantization.quality import PREFIX, Quality, compare
from worker.quantization.regions import is_quantized, prosody_nodes
from worker.quantization.renderer import Renderer
from worker.quantization.sentences import calibration
from worker.quantization.speakers import calibrated, judged
from worker.quantization.static import GeneratorInputs, quantize_generator
from worker.quantization.surgery import name_nodes
from worker.quantization.variants import SOURCE, VARIANT
from worker.quantization.weight_only import with_small_weights
from worker.quantization.workplace import workplace
from worker.settings import WorkerSettings
from worker.split.cuts import find_cuts
from worker.split.graph import CannotSplit, Graph, load_graph
from worker.split.prepared import Unprepared
from worker.voices import VoiceBank

Progress = Callable[[str, float], None]
"""Called with what is being done, and the share of it that is done, 0 to 1."""


def variant_path(model: Path, kind: Kind) -> Path:
    """Beside the model: `kokoro-v1.0.static-int8.onnx`. The name of a published file (`kokoro-v1.0.fp16.onnx`) is left
    to that: with another content it would be taken for a damaged one."""
    path = model.with_name(f"{model.stem}.{kind}.onnx")
    return model.with_name(f"{model.stem}.own-{kind}.onnx") if path.name in MODEL_NAMES else path


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
    """Write `out`, whole or not at all; a variant that is there is replaced, and nothing else is.

    Args:
        kind: which variant.
        model: the full-precision model.
        voices: its voices, to calibrate and judge with.
        out: the file to write.
        settings: threads, and the cache that has the model's stages.
        reduced: use 7 bits of each S8 weight (`worker.signed_products`).
        check: measure the variant's quality, which is then kept in the file.
        progress: hears how far it is.

    Returns:
        Its quality, if that was asked for.

    Raises:
        QuantizationError: it can't be made; the message says why.
    """
    tell = progress or (lambda _what, _share: None)
    try:
        _check_files(model, out)
        bank = VoiceBank.open(voices)
        with workplace(out) as folder:
            return _made(kind, model, voices, bank, out, folder, settings, reduced, check, tell)
    except CannotSplit as error:
        raise QuantizationError(
            f"{model} can't be quantised: {error}. Name a full-precision export of Kokoro with --model, or run "
            "`kokoro-live models fetch`"
        ) from error
    except Unprepared as error:
        raise QuantizationError(f"{model} can't be quantised: {error}") from error
    except EngineUnavailable as error:
        raise QuantizationError(str(error)) from error
    except OSError as error:
        raise QuantizationError(
            f"{out} can't be written: {error.strerror or error}. Nothing is left of it; make room, or name "
            "another place with --out"
        ) from error


def _check_files(model: Path, out: Path) -> None:
    """See, before minutes of work, that the one can be read and the other may be written."""
    if not model.is_file():
        raise QuantizationError(f"there is no model file {model}: run `kokoro-live models fetch`, or name another")
    if out.name in MODEL_NAMES:
        raise QuantizationError(
            f"{out} has a published file's name, and wouldn't be that file: name another with --out"
        )
    if not out.exists():
        return
    if out.samefile(model):
        raise QuantizationError(f"{out} is the model itself: name another file with --out")
    if out.is_dir():
        raise QuantizationError(f"{out} is a folder: name a file with --out")
    try:
        replaceable = VARIANT in properties_of(out)
    except ValueError:
        replaceable = False
    if not replaceable:
        raise QuantizationError(f"{out} is there already, and `quantize` didn't make it: name another file with --out")


def _made(
    kind: Kind,
    model: Path,
    voices: Path,
    bank: VoiceBank,
    out: Path,
    folder: Path,
    settings: WorkerSettings,
    reduced: bool,
    check: bool,
    tell: Progress,
) -> Quality | None:
    tell("reading", 0.0)
    graph, source = _read(model)
    said = {entry.key: entry.value for entry in graph.model.metadata_props}
    if VARIANT in said or is_quantized(graph):
        raise QuantizationError(
            f"{model} is quantised already ({said.get(VARIANT, 'by somebody else')}): name the full-precision model"
        )
    converted = _converted(kind, model, graph, lambda: _speech(model, bank, settings, tell), reduced, tell)
    properties = {VARIANT: str(kind), SOURCE: source, f"{PREFIX}onnxruntime": onnxruntime.__version__}
    if kind.has_signed_weights:
        properties[f"{PREFIX}reduce_range"] = str(int(reduced))
    if kind.is_calibrated:
        properties[f"{PREFIX}calibrated_voices"] = " ".join(calibrated(bank.names))
    onnx.helper.set_model_props(converted, said | properties)
    unfinished = folder / out.name
    tell("writing", 0.0)
    onnx.save(converted, unfinished)
    del graph, converted
    quality = None
    if check:
        quality = _judged(kind, model, unfinished, voices, settings, lambda share: tell("judging", share))
        names = {f"{PREFIX}judged_voices": " ".join(judged(bank.names))}
        append_properties(unfinished, quality.as_properties() | names)
    if cached_sha256_of(model) != source:
        raise QuantizationError(f"{model} has changed meanwhile, so nothing was kept: start again")
    properties_of(unfinished)
    _publish(unfinished, out)
    tell("done", 1.0)
    return quality


def _read(model: Path) -> tuple[Graph, str]:
    """The model and the sha256 of its file."""
    try:
        source = cached_sha256_of(model)
        graph = load_graph(model)
    except OSError as error:
        raise QuantizationError(f"{model} can't be read: {error.strerror or error}") from error
    for tensor in graph.model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and np.isnan(onnx.numpy_helper.to_array(tensor)).any():
            raise QuantizationError(
                f"{model} is damaged: its weight {tensor.name} has values that are no numbers. Fetch it again with "
                "`kokoro-live models fetch`"
            )
    return graph, source


def _converted(
    kind: Kind,
    model: Path,
    graph: Graph,
    speech: Callable[[], Iterator[GeneratorInputs]],
    reduced: bool,
    tell: Progress,
) -> Any:
    """The model that the variant is, without what it says of itself."""
    name_nodes(graph)
    cuts = find_cuts(graph)
    tell("converting", 0.0)
    try:
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
    except (QuantizationError, CannotSplit, Unprepared, EngineUnavailable, OSError):
        raise
    except Exception as error:  # onnxruntime's tools assert, and raise errors of all kinds
        raise QuantizationError(
            f"{model} can't be made {kind}: {' '.join(str(error).split()) or type(error).__name__}. Choose another "
            "--variant, or see with `kokoro-live say` whether the model itself speaks"
        ) from error


def _judged(
    kind: Kind, model: Path, unfinished: Path, voices: Path, settings: WorkerSettings, told: Callable[[float], None]
) -> Quality:
    try:
        return compare(model, unfinished, voices, settings, cache=unfinished.parent, progress=told)
    except EngineError as error:
        raise QuantizationError(
            f"{kind} of {model} can't be judged: {error}. Choose another --variant, or see with `kokoro-live say` "
            "whether the model itself speaks"
        ) from error


def _speech(model: Path, bank: VoiceBank, settings: WorkerSettings, tell: Progress) -> Iterator[GeneratorInputs]:
    """What the full-precision generator takes when voices in turn speak the sentences to calibrate with."""
    renderer = Renderer(model, bank, settings, settings.cache_dir)
    names = calibrated(bank.names)
    for number, script in enumerate(calibration()):
        tell("calibrating", number / len(calibration()))
        prosody = renderer.prosody(script, names[number % len(names)])
        yield renderer.generator_inputs(prosody, seed=number)


def _publish(unfinished: Path, out: Path) -> None:
    """Give it its name, durably: whoever finds it finds it whole, even after a power cut."""
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(out)
    folder = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
