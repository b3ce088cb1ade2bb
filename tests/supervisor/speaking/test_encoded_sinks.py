"""Files of each format, written from samples that may be cut anywhere."""

from pathlib import Path

import av
import numpy as np
import pytest

from client.answers import CannotSpeak
from frontend.audio.formats import BY_EXTENSION
from supervisor.speaking.sinks import sink_for

SECOND = (np.sin(np.arange(24_000) / 10) * 10_000).astype("<i2").tobytes()


@pytest.mark.parametrize("suffix", [each for each in BY_EXTENSION if each not in (".pcm", ".raw")])
def test_a_file_has_its_format_and_its_length(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"out{suffix}"
    with sink_for(str(file)) as write:
        for at in range(0, len(SECOND), 4801):
            write(SECOND[at : at + 4801])
    with av.open(str(file)) as audio:
        seconds = sum(frame.samples / frame.sample_rate for frame in audio.decode(audio=0))
    assert seconds == pytest.approx(1, abs=0.15)


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(CannotSpeak, match="mp3"):
        sink_for(str(tmp_path / "out.xyz"))
