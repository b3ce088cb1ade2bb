"""The choice of the engine, by the setting and by the files in the model directory."""

import logging
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from tests.miniature import expected, make_miniature, make_voice_folder, make_voices, tokens_of
from worker.engine import EngineUnavailable, Utterance
from worker.models import sources
from worker.models.sources import KNOWN
from worker.select import choose
from worker.settings import WorkerSettings as AllSettings
from worker.targets import CPU
from worker.voices.kokoro_voices import KOKORO_VOICES

WorkerSettings = partial(AllSettings, packaged_model=False)
"""The real model is only where a test asks for it."""


@pytest.fixture(autouse=True)
def own_checksums(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


def test_auto_without_a_model_falls_back_and_says_so(models, caplog):
    with caplog.at_level(logging.WARNING):
        engine = choose(WorkerSettings(model_dir=models))
    assert engine.info.name == "espeak-ng" and engine.info.stands_in
    assert "INSTEAD OF KOKORO" in caplog.text
    assert str(models) in caplog.text
    assert "kokoro-live models fetch" in caplog.text


def test_a_model_directory_that_isnt_there(tmp_path, caplog):
    assert choose(WorkerSettings(model_dir=tmp_path / "absent")).info.name == "espeak-ng"
    assert str(tmp_path / "absent") in caplog.text


def test_without_voices_in_the_model_directory_kokoros_own_speak(models, caplog):
    make_miniature(models / "model.onnx")
    info = choose(WorkerSettings(model_dir=models)).info
    assert (info.name, info.voices) == ("kokoro", KOKORO_VOICES)
    assert "INSTEAD OF KOKORO" not in caplog.text


def test_auto_takes_kokoro_in_silence(models, caplog):
    make_miniature(models / "model.onnx")
    make_voices(models / "voices.bin")
    engine = choose(WorkerSettings(model_dir=models))
    [block] = engine.begin(Utterance("həlˈO", "en-us", (("af_heart", 1.0),), 1.0))
    assert np.array_equal(block.samples, expected(tokens_of("həlˈO")))
    assert engine.info.name == "kokoro"
    assert "INSTEAD OF KOKORO" not in caplog.text


def test_kokoro_refuses_to_start_without_its_files(models):
    with pytest.raises(EngineUnavailable, match=r"no Kokoro model.*models fetch"):
        choose(WorkerSettings(engine="kokoro", model_dir=models))


def test_espeak_asked_for_is_no_fallback(models, caplog):
    make_miniature(models / "model.onnx")
    make_voices(models / "voices.bin")
    asked_for = choose(WorkerSettings(engine="espeak", model_dir=models)).info
    assert asked_for.name == "espeak-ng" and not asked_for.stands_in
    assert not caplog.records


def test_espeak_doesnt_pay_for_onnxruntime():
    program = (
        "import sys\n"
        "from worker.select import choose\n"
        "from worker.settings import WorkerSettings\n"
        "choose(WorkerSettings(engine='espeak')).warm_up()\n"
        "print(sorted({'onnxruntime', 'kokoro_onnx'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (["model_quantized.onnx.part", "zz.onnx", "model_q8f16.onnx", "model.onnx"], "model.onnx"),
        (["model_q8f16.onnx", "model_fp16.onnx"], "model_fp16.onnx"),
        (["aa.onnx", "model_q8f16.onnx"], "model_q8f16.onnx"),
        (["zz.onnx", "aa.onnx"], "aa.onnx"),
        (["mine.dynamic.onnx", "mine.onnx"], "mine.onnx"),
        (["model.static-int8.onnx"], "model.static-int8.onnx"),
    ],
)
def test_the_best_published_model_is_taken(models, there, taken):
    for name in there:
        make_miniature(models / name)
    make_voices(models / "voices.bin")
    assert choose(WorkerSettings(engine="kokoro", model_dir=models)).info.model == taken


def test_the_layout_of_onnx_community(models):
    (models / "onnx").mkdir()
    make_miniature(models / "onnx" / "model.onnx", tokens_name="input_ids")
    make_voice_folder(models / "voices")
    engine = choose(WorkerSettings(engine="kokoro", model_dir=models))
    assert (engine.info.model, engine.info.voice_names) == ("model.onnx", ("af_heart", "am_adam", "bf_emma"))


def test_an_archive_of_another_name(models):
    make_miniature(models / "model.onnx")
    make_voices(models / "voices-mine.bin", ["am_adam"])
    assert choose(WorkerSettings(engine="kokoro", model_dir=models)).info.voice_names == ("am_adam",)


def test_named_files_are_taken_as_they_are(tmp_path, models, caplog):
    """Own files are taken also under a published name: their hash is shown, not demanded."""
    model = make_miniature(tmp_path / "kokoro-v1.0.onnx")
    voices = make_voices(tmp_path / "voices-v1.0.bin")
    engine = choose(WorkerSettings(model=model, voices=voices, model_dir=models))
    assert (engine.info.name, engine.info.model) == ("kokoro", "kokoro-v1.0.onnx")
    assert engine.info.model_sha256
    assert "INSTEAD OF KOKORO" not in caplog.text


def test_a_named_model_that_cant_speak_is_never_replaced(tmp_path, models):
    voices = make_voices(tmp_path / "voices.bin")
    with pytest.raises(EngineUnavailable, match=r"absent\.onnx"):
        choose(WorkerSettings(model=tmp_path / "absent.onnx", voices=voices, model_dir=models))


def test_named_voices_without_a_model_fall_back(tmp_path, models, caplog):
    voices = make_voices(tmp_path / "voices.bin")
    assert choose(WorkerSettings(voices=voices, model_dir=models)).info.name == "espeak-ng"
    assert "no Kokoro model" in caplog.text


def test_published_voices_with_other_contents(models, caplog):
    """Both hashes are named, and the embedded voices speak."""
    make_miniature(models / "model.onnx")
    name = make_voices(models / "voices-v1.0.bin").name
    info = choose(WorkerSettings(engine="kokoro", model_dir=models)).info
    assert info.voices == KOKORO_VOICES
    assert all(part in caplog.text for part in (sources.sha256_of(models / name), KNOWN[name].sha256))
    assert "Going on with the voices in" in caplog.text


def test_a_published_model_with_other_contents(models, caplog):
    """Both hashes are named, whether it stops the start or only brings the fallback."""
    name = "kokoro-v1.0.onnx"
    make_miniature(models / name)
    found = sources.sha256_of(models / name)
    with pytest.raises(EngineUnavailable) as refusal:
        choose(WorkerSettings(engine="kokoro", model_dir=models))
    assert choose(WorkerSettings(model_dir=models)).info.name == "espeak-ng"
    for message in (str(refusal.value), caplog.text):
        assert all(part in message for part in (name, found, KNOWN[name].sha256))


def test_a_corrupt_model_of_no_known_name(models, caplog):
    (models / "mine.onnx").write_bytes(b"not a model")
    make_voices(models / "voices.bin")
    assert choose(WorkerSettings(model_dir=models)).info.name == "espeak-ng"
    assert "mine.onnx" in caplog.text


def test_a_second_start_reads_the_files_less(models, monkeypatch):
    make_miniature(models / "model.onnx")
    make_voices(models / "voices.bin")
    settings = WorkerSettings(engine="kokoro", model_dir=models)
    first = choose(settings).info.model_sha256

    def refuse(path):
        raise AssertionError(f"{path} was hashed again")

    monkeypatch.setattr(sources, "sha256_of", refuse)
    assert choose(settings).info.model_sha256 == first


def test_who_loads_says_for_which_provider_before_that_has_a_chance_to_hang(models):
    make_miniature(models / "model.onnx")
    make_voices(models / "voices.bin")
    said = []
    choose(WorkerSettings(model_dir=models, cache_dir=models / "cache"), (), said.append)
    assert said == [CPU, CPU]
    choose(WorkerSettings(engine="espeak"), (), said.append)
    assert len(said) == 2
