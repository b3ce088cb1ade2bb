"""DNSMOS: Microsoft's published networks, which predict listeners' opinion of speech on a scale from 1 to 5.

The Python package speechmos contains the networks. speechmos's own code needs librosa, and with that numba and
scikit-learn, for one mel spectrogram; this module computes the spectrogram with numpy, as librosa does.

Sources: Reddy et al., "DNSMOS" (2021) for P.808; Reddy et al., "DNSMOS P.835" (2022) for the other scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import onnxruntime
import soxr
from numpy.typing import NDArray

from shm.audio import SAMPLE_RATE, Pcm

_RATE = 16_000
_CLIP = round(9.01 * _RATE)
"""Number of samples that the networks take; a shorter clip is repeated until it is long enough."""

_FFT, _HOP, _MELS = 321, 160, 120

_SIGNAL = (-0.08397278, 1.22083953, 0.0052439)
_OVERALL = (-0.06766283, 1.11546468, 0.04602535)
"""Polynomials from the networks' scale to the listeners' (`speechmos.dnsmos`)."""


class Opinion(NamedTuple):
    """Mean opinion scores, 1 to 5."""

    p808: float
    """Score of the whole impression (ITU-T P.808), which tells variants of one model apart."""
    overall: float
    signal: float
    """Score of the speech alone (P.835)."""


class OpinionScorer:
    """Scorer with DNSMOS's two networks."""

    @staticmethod
    def is_installed() -> bool:
        """True if the extra `quality` is installed."""
        return find_spec("speechmos") is not None

    def __init__(self, threads: int = 0) -> None:
        """Load the networks.

        Args:
            threads: threads of each network; 0 means all cores.

        Raises:
            ImportError: the extra `quality` isn't installed.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        folder = files("speechmos") / "dnsmos_models"
        self._p808, self._p835 = (
            onnxruntime.InferenceSession((folder / name).read_bytes(), options, providers=["CPUExecutionProvider"])
            for name in ("model_v8.onnx", "sig_bak_ovr.onnx")
        )

    def opinion(self, samples: Pcm) -> Opinion:
        """Scores of mono 16-bit samples at 24 kHz, at least one: the mean over windows of 9 s, one second apart."""
        return Opinion(*np.mean([(self._liked(clip), *self._score(clip)) for clip in _clips(samples)], axis=0).tolist())

    def p808(self, samples: Pcm) -> float:
        """The first of these scores, which takes a tenth of the time of all."""
        return float(np.mean([self._liked(clip) for clip in _clips(samples)]))

    def _liked(self, clip: NDArray[np.float32]) -> float:
        [[[p808]]] = self._p808.run(None, {"input_1": _log_mel(clip[:-_HOP])[None]})
        return float(p808)

    def _score(self, clip: NDArray[np.float32]) -> tuple[float, float]:
        [[[signal, _, overall]]] = self._p835.run(None, {"input_1": clip[None]})
        return float(np.polyval(_OVERALL, overall)), float(np.polyval(_SIGNAL, signal))


def _clips(samples: Pcm) -> Iterator[NDArray[np.float32]]:
    floats = soxr.resample(samples.astype(np.float32) / 32768, SAMPLE_RATE, _RATE)
    while len(floats) < _CLIP:
        floats = np.concatenate((floats, floats))
    for start in range(0, (len(floats) - _CLIP) // _RATE * _RATE + 1, _RATE):
        yield floats[start : start + _CLIP]


def _log_mel(clip: NDArray[np.float32]) -> NDArray[np.float32]:
    """Log-mel spectrogram, [frames, 120], as in `librosa.feature.melspectrogram`: 0 is 40 dB below the loudest value,
    and one unit is 40 dB."""
    padded = np.pad(clip, _FFT // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FFT) / _FFT)
    power = np.abs(np.fft.rfft(frames * window)) ** 2 @ _slaney_bands()
    decibels = 10 * np.log10(np.maximum(power, 1e-10))
    decibels -= 10 * np.log10(max(power.max(), 1e-10))
    floored: NDArray[np.float32] = ((np.maximum(decibels, -80.0) + 40) / 40).astype(np.float32)
    return floored


@cache
def _slaney_bands() -> NDArray[np.float64]:
    """Slaney's mel bands, each of unit area: [FFT / 2 + 1, 120]. Linear below 1 kHz, logarithmic above."""
    frequencies = np.fft.rfftfreq(_FFT, 1 / _RATE)
    step = np.log(6.4) / 27
    top = 15 + np.log(_RATE / 2 / 1000) / step
    mels = np.linspace(0, top, _MELS + 2)
    edges = np.where(mels < 15, mels * 200 / 3, 1000 * np.exp(step * (mels - 15)))
    rising = (frequencies[:, None] - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - frequencies[:, None]) / np.diff(edges)[1:]
    bands: NDArray[np.float64] = np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))
    return bands
