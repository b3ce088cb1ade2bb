"""`kokoro-live cache`: what is kept is shown with its size and age, and is gone after it was cleared."""

import json
import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from frontend.streams.cache import CachedSegment, DiskCache
from shm.folders import state_folder
from supervisor.cli import kokoro_live
from supervisor.commands.cache import CACHES
from supervisor.settings.composition import Settings
from tests.split_model import make_split_model
from worker.providers.choice import keyed_candidates
from worker.providers.verdict import Verdict, load, store
from worker.split.prepared import prepare
from worker.targets import CPU


def ran(*arguments: str) -> str:
    result = CliRunner().invoke(kokoro_live, ["cache", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def shown(*arguments: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(ran("show", "--json", *arguments))}


def filled(folder: Path) -> tuple[list[str], Settings]:
    """The arguments and the settings of a cache in which each kind has something, made by what makes it."""
    cache, audio = folder / "cache", folder / "audio"
    make_split_model(folder / "model.onnx")
    settings = Settings.of({"cache_dir": cache, "disk_cache": audio, "model_dir": folder})
    prepare(folder / "model.onnx", cache)
    [(_, key)] = keyed_candidates(CPU, folder / "model.onnx", settings.worker)
    store(cache, key, Verdict(when=time.time(), right=True, faster=False, reason="as fast"))
    (cache / "tuning.json").write_text("{}")
    state_folder().mkdir(parents=True, exist_ok=True)
    (state_folder() / "real_time_factors.json").write_text("{}")
    with closing(DiskCache(audio, 1 << 24)) as segments:
        segments.put(b"key", CachedSegment(np.ones(24_000, np.int16)))
        segments.put(b"short", CachedSegment(np.ones(100, np.int16)))
    (jieba,) = next(kind for kind in CACHES if kind.name == "phonemes").paths(settings)
    jieba.parent.mkdir(parents=True, exist_ok=True)
    jieba.write_bytes(b"x" * 100)
    return ["--cache-dir", str(cache), "--disk-cache", str(audio)], settings


def test_all_that_is_kept_is_shown_with_size_age_and_purpose(tmp_path: Path) -> None:
    arguments, _ = filled(tmp_path)
    hour_ago = time.time() - 3600
    os.utime(tmp_path / "cache" / "tuning.json", (hour_ago, hour_ago))
    rows = shown(*arguments)
    assert list(rows) == ["verdicts", "profiles", "phonemes", "audio", "stages"]
    assert all(row["files"] and row["bytes"] and row["purpose"] for row in rows.values())
    assert rows["phonemes"]["bytes"] == 100
    assert rows["audio"]["bytes"] > 48_000
    assert (
        rows["profiles"]["youngest_seconds"] < 60 <= rows["profiles"]["oldest_seconds"] == pytest.approx(3600, abs=60)
    )
    told = ran("show", *arguments)
    assert all(row["purpose"] in told for row in rows.values()) and "--verdict-age" in told


@pytest.mark.parametrize("name", [kind.name for kind in CACHES])
def test_one_kind_is_cleared_and_the_others_stay(tmp_path: Path, name: str) -> None:
    arguments, _ = filled(tmp_path)
    before = shown(*arguments)
    assert f"{name}: " in ran("clear", name, *arguments)
    after = shown(*arguments)
    for other, row in after.items():
        if other != name:
            assert row["bytes"] == before[other]["bytes"]
    assert after["audio" if name == "audio" else name]["bytes"] < before[name]["bytes"]


def test_what_was_cleared_is_not_found_again_also_in_an_open_disk_cache(tmp_path: Path) -> None:
    arguments, settings = filled(tmp_path)
    [(_, key)] = keyed_candidates(CPU, tmp_path / "model.onnx", settings.worker)
    assert load(settings.worker.cache_dir, key)
    with closing(DiskCache(tmp_path / "audio", 1 << 24)) as segments:  # as a running server has it
        assert segments.get(b"key")
        ran("clear", "all", *arguments)
        assert segments.get(b"key") is None and segments.get(b"short") is None
        segments.put(b"key", CachedSegment(np.ones(24_000, np.int16)))
        segments.put(b"short", CachedSegment(np.ones(100, np.int16)))
        assert segments.get(b"key")
    assert load(settings.worker.cache_dir, key) is None
    assert not (tmp_path / "cache" / "split").exists()
    assert prepare(tmp_path / "model.onnx", settings.worker.cache_dir).folder.is_dir()
    ran("clear", "all", *arguments)
    ran("clear", "all", *arguments)  # nothing there is no error


def test_another_name_is_refused() -> None:
    assert CliRunner().invoke(kokoro_live, ["cache", "clear", "models"]).exit_code == 2
    assert CliRunner().invoke(kokoro_live, ["cache", "clear"]).exit_code == 2
