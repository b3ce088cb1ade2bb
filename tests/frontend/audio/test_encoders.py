"""Every format at several rates and lengths: pieces sound like what went in, up to the end; raw ones bit by bit."""

import io
import random
import struct
import wave
from collections.abc import Sequence
from itertools import cycle

import numpy as np
import pytest
import soxr
from numpy.typing import NDArray

from frontend.audio import encoders
from frontend.audio.encoders import header, make_encoder
from frontend.audio.formats import ALL_NAMES, BY_TYPE, FORMATS, SETTLED, AudioFormat, OutputFormat
from shm.audio import SAMPLE_RATE, Pcm
from tests.frontend.audio.hearing import FRAME, PADDING, Heard, hear, loudness, signal_to_noise, vowels

LENGTHS = (0.05, 0.8, 2.017)
"""Seconds."""

RATES = (8_000, 24_000, 48_000)
LOSSLESS = (FORMATS["flac"], FORMATS["wav"], FORMATS["caf"], FORMATS["pcm"])
LOSSY = (FORMATS["mp3"], FORMATS["opus"], FORMATS["aac"])
WORST_SIGNAL_TO_NOISE = 12.0
"""The least signal-to-noise ratio in dB: the shortest clip, which is all onset; half a second has 18 and more."""

CUTS: Sequence[Sequence[int]] = ([2400], [1, 7, 2400, 999, 48_000], [10**6])
"""Sizes of the calls' pieces in samples, repeated to the end; the last case: all at once."""


def encoded(
    audio_format: AudioFormat, pcm: Pcm, rate: int, sizes: Sequence[int] = (2400,), whole: bool = False
) -> bytes:
    encoder = make_encoder(OutputFormat(audio_format, rate), whole=whole)
    parts = []
    position = 0
    for size in cycle(sizes):
        parts.append(encoder.encode(pcm[position : position + size]))
        position += size
        if position >= len(pcm):
            break
    parts.append(encoder.finish())
    encoder.close()
    if whole and audio_format is not FORMATS["pcm"]:
        assert not any(parts[:-1])
    return b"".join(parts)


def at_rate(pcm: Pcm, rate: int) -> NDArray[np.int16]:
    """The sound resampled in one call."""
    if rate == SAMPLE_RATE:
        return pcm
    samples = soxr.resample(pcm.astype(np.float32), SAMPLE_RATE, rate, quality="HQ")
    return np.rint(samples).clip(-32_768, 32_767).astype(np.int16)


def heard(audio_format: AudioFormat, data: bytes, rate: int) -> Heard:
    if audio_format is FORMATS["pcm"]:
        return Heard(np.frombuffer(data, "<i2"), rate)
    return hear(data)


@pytest.mark.parametrize("rate", [*RATES, 11_025, 44_100, 23_999])
@pytest.mark.parametrize("seconds", LENGTHS)
@pytest.mark.parametrize("audio_format", LOSSLESS, ids=str)
def test_lossless_formats_give_back_every_sample(audio_format: AudioFormat, seconds: float, rate: int) -> None:
    pcm = vowels(seconds)
    for sizes in CUTS:
        got = heard(audio_format, encoded(audio_format, pcm, rate, sizes), rate)
        assert got.sample_rate == rate
        assert np.array_equal(got.samples, at_rate(pcm, rate))
    assert abs(len(got.samples) - len(pcm) * rate / SAMPLE_RATE) <= 1


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("seconds", LENGTHS)
@pytest.mark.parametrize("audio_format", LOSSY, ids=str)
def test_lossy_formats_keep_sound_length_and_tail(audio_format: AudioFormat, seconds: float, rate: int) -> None:
    pcm = vowels(seconds)
    got = heard(audio_format, encoded(audio_format, pcm, rate), rate)
    expected = at_rate(pcm, rate)
    if audio_format is FORMATS["opus"]:  # whatever the rate, decoders give 48 kHz
        assert got.sample_rate == 48_000
        expected = at_rate(pcm, 48_000)
    else:
        assert got.sample_rate == rate
    before = PADDING.get(audio_format.name, 0)
    after = len(got.samples) - before - len(expected)
    assert 0 <= after <= FRAME.get(audio_format.name, 0)
    sound = got.samples[before : before + len(expected)]
    assert signal_to_noise(expected, sound) > WORST_SIGNAL_TO_NOISE
    tail = -got.sample_rate // 10
    assert 0.9 < loudness(sound[tail:]) / loudness(expected[tail:]) < 1.1


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("audio_format", LOSSY, ids=str)
def test_how_the_samples_came_leaves_no_seam(audio_format: AudioFormat, rate: int) -> None:
    pcm = vowels(2.5)
    streamed, oddly, at_once = (
        heard(audio_format, encoded(audio_format, pcm, rate, sizes), rate).samples for sizes in CUTS
    )
    assert np.array_equal(streamed, at_once)
    assert np.array_equal(oddly, at_once)


@pytest.mark.parametrize("audio_format", FORMATS.values(), ids=str)
def test_a_whole_clip_sounds_like_the_stream(audio_format: AudioFormat) -> None:
    pcm = vowels(1.234)
    streamed = heard(audio_format, encoded(audio_format, pcm, SAMPLE_RATE), SAMPLE_RATE).samples
    whole = heard(audio_format, encoded(audio_format, pcm, SAMPLE_RATE, whole=True), SAMPLE_RATE).samples
    if audio_format is FORMATS["mp3"]:  # its gapless tag makes decoders leave the padding out
        streamed = streamed[PADDING["mp3"] :][: len(pcm)]
        assert len(whole) == len(pcm)
    assert np.array_equal(whole, streamed)


@pytest.mark.parametrize("rate", [8_000, 22_050, 24_000, 48_000])
def test_a_whole_wav_is_read_by_pythons_wave_module(rate: int) -> None:
    pcm = vowels(0.7)
    with wave.open(io.BytesIO(encoded(FORMATS["wav"], pcm, rate, whole=True))) as reader:
        assert (reader.getnchannels(), reader.getsampwidth(), reader.getframerate()) == (1, 2, rate)
        assert reader.getnframes() == len(at_rate(pcm, rate))
        assert reader.readframes(reader.getnframes()) == at_rate(pcm, rate).tobytes()


@pytest.mark.parametrize("whole", [False, True])
def test_a_wav_of_floats_has_the_same_samples(whole: bool) -> None:
    pcm, form = vowels(0.7), ALL_NAMES["wav_f32le"]
    data = encoded(form, pcm, 44_100, whole=whole)
    assert struct.unpack_from("<HHIIHH", data, 20) == (3, 1, 44_100, 4 * 44_100, 4, 32)
    samples = np.frombuffer(data[44:], "<f4")
    assert np.array_equal(np.rint(samples * 32_768), at_rate(pcm, 44_100)) and abs(samples).max() > 0.1
    assert BY_TYPE["audio/wav"] is FORMATS["wav"], "the other one has the content type"


def test_a_whole_flac_states_its_length_and_checksum() -> None:
    pcm = vowels(0.5)
    stream_info = encoded(FORMATS["flac"], pcm, SAMPLE_RATE, whole=True)[8:42]
    assert int.from_bytes(stream_info[13:18]) & (1 << 36) - 1 == len(pcm)
    assert any(stream_info[18:34])


def test_a_streamed_caf_says_that_its_length_is_unknown() -> None:
    """Apple's CAF specification: a size of -1, in the last chunk only, stands for "to the end of the file"."""
    pcm = vowels(0.5)
    streamed, whole = (encoded(FORMATS["caf"], pcm, SAMPLE_RATE, whole=whole) for whole in (False, True))
    for data, size in ((streamed, -1), (whole, 4 + 2 * len(pcm))):  # the chunk begins with four bytes of edit count
        place = data.index(b"data")
        assert data.startswith(b"caff")
        assert int.from_bytes(data[place + 4 : place + 12], signed=True) == size
        assert data[place + 16 :] == pcm.tobytes()


def test_no_room_for_tags_delays_the_first_sound() -> None:
    """FFmpeg's muxers put up to 8 KiB before it."""
    for audio_format in FORMATS.values():
        encoder = make_encoder(OutputFormat(audio_format, SAMPLE_RATE), whole=False)
        assert len(encoder.encode(vowels(1 / SAMPLE_RATE))) < 200
        encoder.close()


@pytest.mark.parametrize(("audio_format", "milliseconds"), [("mp3", 100), ("opus", 60), ("aac", 130), ("flac", 60)])
def test_a_codec_holds_back_no_more_than_it_must(audio_format: str, milliseconds: float) -> None:
    """The bytes that have left, decoded on their own, are the stream but for its last `milliseconds`."""
    pcm = vowels(2.0)
    encoder = make_encoder(OutputFormat(FORMATS[audio_format], SAMPLE_RATE), whole=False)
    left = b""
    for start in range(0, len(pcm), 240):
        left += encoder.encode(pcm[start : start + 240])
        if start >= 2400:
            assert left, "nothing has left after 0.1 s"
    given_out = encoder.given_out
    encoder.close()
    assert (2.0 - given_out) * 1000 <= milliseconds
    so_far = hear(left)
    seconds = (len(so_far.samples) - PADDING.get(audio_format, 0)) / so_far.sample_rate
    assert seconds == pytest.approx(given_out, abs=0.001)


def test_the_bytes_given_out_are_counted_to_the_end() -> None:
    pcm = vowels(0.5)
    for audio_format in FORMATS.values():
        for rate in RATES:
            encoder = make_encoder(OutputFormat(audio_format, rate), whole=False)
            encoder.encode(pcm)
            encoder.finish()
            assert encoder.given_out == pytest.approx(0.5, abs=1 / rate)
            encoder.close()


@pytest.mark.parametrize("audio_format", [row for row in FORMATS.values() if row.rates], ids=str)
def test_every_rate_that_a_codec_is_said_to_have_works(audio_format: AudioFormat) -> None:
    pcm = vowels(0.4)
    for rate in audio_format.rates:
        got = heard(audio_format, encoded(audio_format, pcm, rate), rate)
        assert got.sample_rate == (48_000 if audio_format is FORMATS["opus"] else rate)
        assert loudness(got.samples) > 1000


@pytest.mark.parametrize("rate", [8000, 16_000, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("whole", [False, True])
def test_a_wav_header_says_what_its_samples_are(rate: int, whole: bool) -> None:
    """RIFF's `fmt ` chunk: format, channels, samples per second, bytes per second, bytes per frame, bits per sample."""
    kind, channels, per_second, byte_rate, frame, bits = struct.unpack_from(
        "<HHIIHH", header(rate, 10 if whole else None), 20
    )
    assert (kind, channels, per_second, bits) == (1, 1, rate, 16)
    assert frame == channels * bits // 8
    assert byte_rate == per_second * frame


@pytest.mark.parametrize("rate", [16_000, pytest.param(24_000, marks=pytest.mark.slow)])
def test_an_encoder_that_begins_later_makes_the_rest_of_the_stream(rate: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a format says from which sample on, or the encoder before it; not much is encoded twice."""
    monkeypatch.setattr(encoders, "LEADS", 2)
    pcm = at_rate(np.concatenate((vowels(7.3), np.zeros(50_000, np.int16), vowels(6))), rate)
    rng = random.Random(rate)
    for name in FORMATS:
        output = OutputFormat(FORMATS[name], rate) if rate in (FORMATS[name].rates or (rate,)) else OutputFormat()
        first = make_encoder(output, rate, whole=False, number=7)
        data, places = b"", []
        for at in range(0, len(pcm), 999):
            data += first.encode(pcm[at : at + 999])
            places.append((at + 999, len(data), first.seam))
        data += first.finish()
        first.close()
        for given, had, seam in rng.sample(places[len(places) // 2 :], 3):
            samples, there = seam if seam[0] else output.settled(had, rate)
            assert bool(samples) == (name in ("mp3", "aac", "opus"))
            assert there <= had
            if not samples:
                continue
            codec = FORMATS[name].codec
            assert codec
            again = (encoders.LEADS + 1) * codec.lead * (1024 if name == "aac" else rate // 50) or SETTLED * rate
            assert given - samples < again + rate // 4
            later = make_encoder(output, rate, whole=False, number=7, seam=(samples, there))
            rest = b"".join(later.encode(pcm[at : at + 7777]) for at in range(samples, len(pcm), 7777))
            assert (rest + later.finish())[had - there :] == data[had:]
            assert later.seam == (first.seam if seam[0] else (samples, there))
            later.close()


@pytest.mark.parametrize(("name", "frame", "least"), [("aac", 1024, 23.0), ("opus", 480, 28.0)])
def test_seams_change_no_more_than_encoding_does(
    name: str, frame: int, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`least`: the signal-to-noise ratio in dB; with leads of one frame both formats have less. A percent is encoded
    twice, and a successor goes back by no more than three minutes."""
    codec = FORMATS[name].codec
    assert codec
    assert encoders.LEADS >= 100
    assert encoders.LEADS * codec.lead * frame < 180 * SAMPLE_RATE
    pcm = vowels(12)
    seamless = hear(encoded(FORMATS[name], pcm, SAMPLE_RATE)).samples
    monkeypatch.setattr(encoders, "LEADS", 2)
    seams = hear(encoded(FORMATS[name], pcm, SAMPLE_RATE)).samples
    assert len(seams) == len(seamless)
    assert np.any(seams != seamless)
    assert signal_to_noise(seamless, seams) > least


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
