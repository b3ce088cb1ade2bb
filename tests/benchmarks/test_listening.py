"""A client's own timing of an answer, against a real socket that answers as a test wants."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from benchmarks.measuring.listening import listen


@contextmanager
def answering(*pieces: bytes, status: int = 200, cut: bool = False) -> Iterator[int]:
    """A server on the port given: chunks, each sent when the one before it was; without the last one, if `cut`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
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


def test_an_answer_of_silence_was_not_heard() -> None:
    with answering(bytes(4800)) as port:
        heard = listen(port, "Hello.", "af_heart")
    assert heard.complete
    assert heard.to_first_audible is None
    with pytest.raises(ConnectionError):
        heard.assert_complete()


def test_an_answer_without_its_end_is_not_complete() -> None:
    with answering(pcm(500), cut=True) as port:
        heard = listen(port, "Hello.", "af_heart")
    assert not heard.complete
    with pytest.raises(ConnectionError):
        heard.assert_complete()


def test_who_is_sent_away_knows_why() -> None:
    with answering(b"no room", status=429) as port:
        heard = listen(port, "Hello.", "af_heart")
    assert (heard.status, heard.error, heard.arrivals) == (429, "no room", [])


def test_a_player_reads_no_faster_than_it_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client keeps two of three seconds that come at once, and waits before the third."""
    rested: list[float] = []
    monkeypatch.setattr("benchmarks.measuring.listening.time.sleep", rested.append)
    with answering(pcm(*[500] * 24_000 * 3)) as port:
        listen(port, "Hello.", "af_heart", paced=True)
    assert sum(rested) > 0
    assert max(rested) <= 1
