"""Raw formats: telephony's companding and floats, as a decoder reads them."""

import numpy as np
import pytest

from frontend.audio.encoders import make_encoder
from frontend.audio.formats import ALL_NAMES, FORMATS, OutputFormat
from tests.frontend.audio.hearing import vowels


def expanded(code: np.ndarray) -> np.ndarray:
    """ITU-T G.711, mu-law: 8 bits to 14."""
    inverted = ~code.astype(np.uint8)
    magnitude = ((((inverted & 0x0F).astype(np.int32) << 3) + 0x84) << ((inverted & 0x70) >> 4)) - 0x84
    return np.where(inverted & 0x80, -magnitude, magnitude)


@pytest.mark.parametrize("sizes", [240, 2400])
def test_mulaw_is_what_g711_says(sizes: int) -> None:
    pcm = vowels(0.5)
    encoder = make_encoder(OutputFormat(ALL_NAMES["mulaw"], 24_000), whole=False)
    parts = [encoder.encode(pcm[start : start + sizes]) for start in range(0, len(pcm), sizes)]
    assert all(len(part) == sizes for part in parts), "nothing is held back"
    data = b"".join(parts) + encoder.finish()
    assert encoder.given_out == pytest.approx(0.5)
    back = expanded(np.frombuffer(data, np.uint8))
    assert len(back) == len(pcm)
    assert np.max(np.abs(back - pcm) - np.abs(pcm) / 16) < 32


@pytest.mark.parametrize(("raw", "bytes_each"), [("mulaw", 1), ("alaw", 1), ("pcm_f32le", 4), ("l16", 2)])
@pytest.mark.parametrize("rate", [8_000, 24_000, 44_100])
def test_every_raw_format_has_every_rate(raw: str, bytes_each: int, rate: int) -> None:
    encoder = make_encoder(OutputFormat(ALL_NAMES[raw], rate), whole=False)
    data = encoder.encode(vowels(0.5)) + encoder.finish()
    assert len(data) / bytes_each == pytest.approx(0.5 * rate, abs=1)


def test_floats_are_the_samples_by_full_scale() -> None:
    pcm = vowels(0.1)
    data = make_encoder(OutputFormat(ALL_NAMES["pcm_f32le"], 24_000), whole=False).encode(pcm)
    assert np.array_equal(np.frombuffer(data, "<f4") * 32_768, pcm)


def test_l16_is_in_network_byte_order() -> None:
    pcm = vowels(0.1)
    data = make_encoder(OutputFormat(ALL_NAMES["l16"], 24_000), whole=False).encode(pcm)
    assert np.array_equal(np.frombuffer(data, ">i2"), pcm)


def test_a_bit_rate_is_kept() -> None:
    lengths = []
    for bit_rate in (32_000, 128_000):
        encoder = make_encoder(OutputFormat(FORMATS["mp3"], 44_100, bit_rate), whole=False)
        lengths.append(len(encoder.encode(vowels(2.0)) + encoder.finish()))
    assert lengths[1] / lengths[0] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("raw", [name for name, row in ALL_NAMES.items() if row.telephony and not row.needs_length])
def test_a_second_takes_as_many_bytes_as_are_told(raw: str) -> None:
    encoder = make_encoder(OutputFormat(ALL_NAMES[raw], 24_000), whole=False)
    data = encoder.encode(np.zeros(24_000, np.int16)) + encoder.finish()
    assert len(data) == OutputFormat(ALL_NAMES[raw], 24_000).bytes_per_second
