"""Hearing: levels, transcripts and joins; a client's own timing of an answer."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from benchmarks.joins import AROUND, largest_step
from benchmarks.measuring.hearing.ears import Heard
from benchmarks.measuring.hearing.gate import LIMITED, Judgement, level_differences
from benchmarks.measuring.hearing.level import pause_noise, speech_level
from benchmarks.measuring.hearing.opinion import Opinion, OpinionScorer
from benchmarks.measuring.hearing.words import word_errors
from benchmarks.measuring.listening import listen

SECOND = 24_000


def tone(seconds, peak):
    return (peak * np.sin(np.arange(int(seconds * SECOND)) * 2 * np.pi * 200 / SECOND)).astype(np.int16)


def test_silence_around_speech_does_not_change_its_level():
    quiet = np.zeros(SECOND, np.int16)
    assert speech_level(np.concatenate((quiet, tone(1, 8000), quiet))) == pytest.approx(speech_level(tone(1, 8000)))
    assert speech_level(tone(1, 8000)) - speech_level(tone(1, 4000)) == pytest.approx(6.02, abs=0.01)


def test_silence_has_a_level_far_below_speech():
    assert speech_level(np.zeros(SECOND, np.int16)) == 0.0
    assert speech_level(np.zeros(0, np.int16)) == 0.0


def test_noise_in_pauses_is_told_where_samples_lie_alike():
    quiet = tone(0.5, 10)
    reference = np.concatenate((tone(0.5, 8000), quiet))
    louder = np.concatenate((tone(0.5, 8000), 4 * quiet))
    assert pause_noise(reference, louder) == pytest.approx(12, abs=0.6)
    assert pause_noise(reference, louder[1:]) is None
    assert pause_noise(tone(1, 8000), tone(1, 8000)) is None


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ("Her grandfather planted it in nineteen thirty-four.", "her grandfather planted it in 1934"),
        ("Six hundred and eight metres, towards the harbour.", "608 meters toward the harbor"),
        ("On the thirty-first of October.", "On the 31st of October."),
        ("Two thousand, one hundred and five", "2,105"),
        ("Mr. Brown’s lighthouse", "mister Brown's light house"),
        ("the light house", "The lighthouse."),
        ("It's about three point five.", "It's about 3.5"),
        ("At eight o'clock!", "at eight oclock"),
        ("It's noon on Saturdays.", "Its noon on Saturday's."),
    ],
)
def test_the_same_words_written_in_two_ways_are_no_error(said, understood):
    assert word_errors(said, understood) == 0


@pytest.mark.parametrize(
    ("said", "understood", "errors"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a x c", 1),
        ("a b c", "a c", 1),
        ("a b c", "a b b c", 1),
        ("yes", "", 1),
        ("yes", "no thank you", 3),
        ("one two", "onetwo three", 1),
    ],
)
def test_errors_are_the_fewest_changes(said, understood, errors):
    assert word_errors(said, understood) == errors


@pytest.fixture(scope="module")
def hum():
    """A voice's harmonics that come and go, with a little noise."""
    time = np.arange(10 * SECOND)
    noise = np.random.default_rng(1).normal(0, 300, len(time))
    return (np.sin(time * 2 * np.pi * 200 / SECOND) * 8000 * (np.sin(time / 9000) > 0) + noise).astype(np.int16)


@pytest.fixture(scope="module")
def scorer():
    return OpinionScorer(1)


def test_scores_are_those_of_the_package_s_own_code(scorer, hum):
    """`speechmos.dnsmos.run` with librosa 0.11 gave these for the same samples at 16 kHz."""
    opinion = scorer.opinion(hum)
    assert opinion == pytest.approx((2.10756, 1.94072, 2.74660), abs=0.01)


def heard(words, level=70.0, errors=0, p808=4.0):
    return Heard(words, level, errors, Opinion(p808, 3.0, 3.0))


REFERENCE = [heard(1), heard(9), heard(490)]


def test_the_same_again_passes_by_all_that_is_limited():
    judgement = Judgement.of(REFERENCE, REFERENCE, log_mel_distance=0.0)
    assert judgement.failures == () and judgement.judged == LIMITED
    assert judgement == Judgement(0.0, 0.0, 500, 0.0, 0.0)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ([heard(1, level=68.9), heard(9), heard(490)], "its level is 1.1 dB off at some length (limit 1)"),
        ([heard(1), heard(9), heard(490, errors=3)], "its word error rate is 0.6 points higher (limit 0.5)"),
        ([heard(1, p808=3.84), heard(9), heard(490)], "its opinion score is 0.05 lower (limit 0.05)"),
    ],
)
def test_one_fault_is_enough(other, says):
    assert Judgement.of(REFERENCE, other).failures == (says,)


def test_fewer_words_and_better_opinions_fail_nothing():
    better = [heard(1, p808=4.5), heard(9, p808=4.5), heard(490, p808=4.5)]
    assert Judgement.of(REFERENCE, better).failures == ()
    few = Judgement.of(REFERENCE[:2], [heard(1, errors=1), heard(9)])
    assert few.word_error_points == 10.0 and few.failures == () and "word errors" not in few.judged


def test_a_silent_word_is_not_averaged_away_by_long_texts():
    silent = [heard(1, level=0.0), *[heard(9)] * 50]
    assert level_differences([heard(1), *[heard(9)] * 50], silent) == {1: 70.0, 12: 0.0}


def test_where_nobody_listened_nothing_is_judged_of_words():
    deaf = [Heard(500, 70.0)]
    judgement = Judgement.of(deaf, deaf)
    assert judgement.judged == ("level",) and judgement.word_error_points is None and judgement.opinion_loss is None


@contextmanager
def answering(*pieces: bytes, cut: bool = False) -> Iterator[int]:
    """A server on the port given: chunks, each sent when the one before it was; without the last one, if `cut`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in pieces:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            if not cut:
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def pcm(*samples: int) -> bytes:
    return np.array(samples, dtype="<i2").tobytes()


def test_the_first_audible_sample_is_not_the_first_byte() -> None:
    """A second of silence, then speech: the listener's wait ends with the speech, and all bytes are counted."""
    with answering(bytes(48_000), pcm(500, -500)) as port:
        heard = listen(port, "Hello.", "af_heart").assert_complete()
    assert heard.audible is not None
    assert heard.started < heard.arrivals[0][0] <= heard.audible <= heard.ended
    assert sum(size for _, size in heard.arrivals) == 48_004
    assert heard.audio_seconds == pytest.approx(1, abs=0.001)


def test_an_answer_without_its_end_is_not_complete() -> None:
    with answering(pcm(500), cut=True) as port:
        heard = listen(port, "Hello.", "af_heart")
    assert not heard.complete
    with pytest.raises(ConnectionError):
        heard.assert_complete()


def noise(level: float = 1000, length: int = 20 * AROUND) -> np.ndarray:
    return np.random.default_rng(0).normal(0, level, length).astype(np.int16)


def test_where_nothing_is_different_no_step_is_the_largest():
    share = largest_step(noise(), noise(), [4 * AROUND, 9 * AROUND])
    assert share is not None and share <= 1


def test_a_click_at_a_join_is_found_and_anywhere_else_it_is_not_the_joins():
    whole = noise()
    clicking = whole.copy()
    clicking[9 * AROUND :] += 20000
    share = largest_step(whole, clicking, [4 * AROUND, 9 * AROUND])
    assert share is not None and share > 1
    elsewhere = largest_step(whole, clicking, [4 * AROUND, 15 * AROUND])
    assert elsewhere is not None and elsewhere <= 1


def test_a_click_in_a_quiet_place_is_not_hidden_by_a_loud_one():
    whole = np.concatenate([noise(2), noise(5000)])
    clicking = whole.copy()
    clicking[5 * AROUND : 6 * AROUND] += 100
    share = largest_step(whole, clicking, [5 * AROUND])
    assert share is not None and share > 1


def test_without_a_join_nothing_is_said():
    assert largest_step(noise(), noise(), []) is None
    assert largest_step(noise(), noise(), [len(noise()) + 2 * AROUND]) is None, "in silence that was cut off"
