"""Exports Kokoro's architecture with random weights to ONNX. Runs in the virtual environment of `full_size_model.py`.

    python full_size_export.py --config CONFIG --seed N --out FILE

It needs torch and the `kokoro` package, not what that package needs to pronounce. Weights are drawn from the seed and
scaled, layer by layer, so that what each convolution gives is near 1. Every factor is rounded (to a power of two,
where nothing finer is needed), so that another processor's last bits don't change the file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
import tempfile
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn

FRAMES_PER_TOKEN = 2.75
OPSET = 20
"""ONNX opset of kokoro-onnx's own exports."""

LEVEL = 0.12
"""Root mean square of the audio, full scale 1: about that of speech, with peaks of 0.4 to 0.7."""

F0_HZ, F0_SPREAD_HZ = 160.0, 30.0
CALIBRATION_TOKENS = 120
BERT_STEP = 0.1
STYLE_STD = 0.15
"""Standard deviation of the published voices' values."""

TEXTS = 16
"""Networks with a style each, for the durations."""
TOKEN_WEIGHT, STYLE_WEIGHT = 4.0, 0.25
DURATION_SPREAD = 0.25
"""Standard deviation of the logits; a duration is the sum of their sigmoids."""


def kokoro_model(config: dict[str, Any]) -> Any:
    """Kokoro's module without weights. The package's `__init__`, which imports its G2P, is passed by."""
    found = importlib.util.find_spec("kokoro")
    if found is None:
        raise SystemExit("`kokoro` isn't installed here; run `python -m benchmarks.training.full_size_model`")
    package = types.ModuleType("kokoro")
    package.__path__ = list(found.submodule_search_locations or ())
    sys.modules["kokoro"] = package
    from kokoro.model import KModel, KModelForONNX

    with tempfile.TemporaryDirectory() as folder:
        nothing = Path(folder) / "weights.pth"
        torch.save({}, nothing)
        model = KModel(repo_id="none", config=config, model=str(nothing), disable_complex=True)
    model.bert.config._attn_implementation = "eager"
    return KModelForONNX(model).eval()


def without_weight_norm(model: nn.Module) -> None:
    for module in model.modules():
        if hasattr(module, "weight_v"):
            nn.utils.remove_weight_norm(module)


def draw(model: Any) -> None:
    """Every matrix normal with the variance 1 / fan-in. Norms, LSTMs and embeddings keep torch's own start."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv1d | nn.ConvTranspose1d):
            fan_in = module.weight[0].numel()
            if isinstance(module, nn.ConvTranspose1d):
                fan_in = module.in_channels * module.kernel_size[0] // module.stride[0] // module.groups
            nn.init.normal_(module.weight, std=1 / math.sqrt(fan_in))
            if module.bias is not None:
                nn.init.normal_(module.bias, std=0.05)
    # ALBERT runs one layer twelve times: at full strength all tokens would end as the same vector.
    for layer in model.bert.encoder.albert_layer_groups[0].albert_layers:
        for linear in (layer.attention.dense, layer.ffn_output):
            linear.weight.mul_(BERT_STEP)
            linear.bias.zero_()


def scaled_while(model: Any, run: Callable[[], Any]) -> None:
    """Run once; each convolution's weights are scaled on its way, so that what it gives has a spread near 1."""

    def scale(module: Any, _: Any, output: torch.Tensor) -> torch.Tensor:
        factor = 2.0 ** -round(math.log2(float(output.std())))
        for weights in (module.weight, module.bias):
            if weights is not None:
                weights.mul_(factor)
        return output * factor

    parts = (model.predictor, model.text_encoder, model.decoder)
    convolutions = [m for part in parts for m in part.modules() if isinstance(m, nn.Conv1d | nn.ConvTranspose1d)]
    hooks = [module.register_forward_hook(scale) for module in convolutions]
    run()
    for hook in hooks:
        hook.remove()


def set_durations(model: Any, texts: list[torch.Tensor], styles: list[torch.Tensor]) -> None:
    """Durations that differ from token to token, and hardly from voice to voice: all rows of the projection are alike
    but for noise, the style counts little, and the bias is found by bisection for `FRAMES_PER_TOKEN`."""
    predictor = model.predictor
    lstms = [predictor.lstm, *(m for m in predictor.text_encoder.lstms if isinstance(m, nn.LSTM))]
    for lstm in lstms:
        width = model.bert_encoder.out_features
        for weights in (lstm.weight_ih_l0, lstm.weight_ih_l0_reverse):
            weights[:, :width].mul_(TOKEN_WEIGHT)
            weights[:, width:].mul_(STYLE_WEIGHT)
    projection = predictor.duration_proj.linear_layer
    common = torch.randn(1, projection.in_features) / math.sqrt(projection.in_features)
    projection.weight.mul_(0.3).add_(common)
    projection.bias.zero_()
    seen = torch.cat([_before_durations(model, *pair)[0] for pair in zip(texts, styles, strict=True)])
    logits = projection(seen)
    factor = 2.0 ** round(math.log2(DURATION_SPREAD / float(logits.std())))
    projection.weight.mul_(factor)
    low, high = -8.0, 2.0
    while high - low > 0.01:
        middle = (low + high) / 2
        frames = torch.sigmoid(logits * factor + middle).sum(-1).round().clamp(min=1).mean()
        low, high = (middle, high) if frames < FRAMES_PER_TOKEN else (low, middle)
    projection.bias.fill_(round(low, 2))


def _before_durations(model: Any, tokens: torch.Tensor, style: torch.Tensor) -> torch.Tensor:
    """Input of the duration projection, [1, tokens, 512]."""
    lengths = torch.tensor([tokens.shape[1]])
    nothing_masked = torch.zeros_like(tokens, dtype=torch.bool)
    text = model.bert_encoder(model.bert(tokens, attention_mask=torch.ones_like(tokens))).transpose(-1, -2)
    encoded = model.predictor.text_encoder(text, style[:, 128:], lengths, nothing_masked)
    found: torch.Tensor = model.predictor.lstm(encoded)[0]
    return found


def set_curves(model: Any) -> None:
    """F0 as a voice's; the convolutions that make F0 and energy were scaled to a spread near 1."""
    model.predictor.F0_proj.weight.mul_(F0_SPREAD_HZ)
    model.predictor.F0_proj.bias.fill_(F0_HZ)
    decoder = model.decoder
    decoder.F0_conv.weight.div_(F0_HZ)


def set_level(model: Any, run: Callable[[], Any]) -> None:
    """The magnitudes are exponentials of the last convolution's first half: its bias is the level."""
    post = model.decoder.generator.conv_post
    half = post.out_channels // 2
    post.weight[:half].mul_(0.5)
    post.bias.fill_(0.0)
    level = float(run()[0].square().mean().sqrt())
    post.bias[:half] = round(math.log(LEVEL / level), 1)


def make(config: dict[str, Any], seed: int) -> Any:
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    wrapped = kokoro_model(config)
    model = wrapped.kmodel
    without_weight_norm(model)
    draw(model)
    ids = torch.tensor(sorted(set(config["vocab"].values())))
    texts = [nn.functional.pad(ids[torch.randint(len(ids), (1, CALIBRATION_TOKENS))], (1, 1)) for _ in range(TEXTS)]
    styles = [torch.randn(1, 256) * STYLE_STD for _ in range(TEXTS)]

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        found: tuple[torch.Tensor, torch.Tensor] = wrapped(texts[0], styles[0], torch.ones(1))
        return found

    set_durations(model, texts, styles)
    scaled_while(model, run)
    set_curves(model)
    set_level(model, run)
    audio, durations = run()
    frames = float(durations.float().mean())
    print(
        f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} M parameters, {frames:.2f} frames per token, "
        f"peak {float(audio.abs().max()):.2f}, level {float(audio.square().mean().sqrt()):.3f}"
    )
    return wrapped


def export(wrapped: Any, config: dict[str, Any], out: Path) -> None:
    """The published form: tokens [1, N], style [1, 256], speed [1] -> audio [samples], duration [N]."""
    tokens = torch.tensor([[0, *range(16, 26), 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's, about shapes that are constants here too
        torch.onnx.export(
            wrapped,
            (tokens, torch.randn(1, 256) * STYLE_STD, torch.tensor([0.95])),
            str(out),
            input_names=["tokens", "style", "speed"],
            output_names=["audio", "duration"],
            dynamic_axes={"tokens": {1: "tokens"}, "audio": {0: "samples"}, "duration": {0: "tokens"}},
            opset_version=OPSET,
            do_constant_folding=True,
            dynamo=False,
        )
    model = onnx.load(out)
    onnx.helper.set_model_props(model, {"kokoro_config": json.dumps(config)})
    onnx.checker.check_model(model)
    onnx.save(model, out)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    config = json.loads(arguments.config.read_text())
    with torch.no_grad():
        export(make(config, arguments.seed), config, arguments.out)


if __name__ == "__main__":
    main()
