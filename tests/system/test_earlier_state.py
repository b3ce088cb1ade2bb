"""A real server on what each earlier version has left on the disk.

1. The settings, the lexicon and a job of an earlier version -> the server speaks and finishes the job; nothing failed.
"""

import shutil
from pathlib import Path

import pytest

from tests.state.test_kept_files import STORED
from tests.state.written import JOB, LEXICON
from tests.system.oracle import miniature_arguments
from tests.system.server import awaited, server

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("stored", STORED, ids=lambda path: path.name)
def test_a_server_goes_on_with_an_earlier_versions_files(stored: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(stored, tmp_path / "kokoro-live"))
    folders = dict.fromkeys(("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), str(tmp_path))
    files = "--lexicon", str(home / "lexicon.txt"), "--disk-cache", str(home / "audio")
    with server(*miniature_arguments(tmp_path), *files, environment=folders) as target:
        assert target.hear(input="Zyxqvil speaks.", response_format="wav")
        job = awaited(lambda: target.get(f"/v1/jobs/{JOB}")[1], lambda found: found["state"] in ("done", "failed"))
        assert job["state"] == "done", job
        log = list(target.log)
    assert not [line for line in log if "ERROR" in line or "Traceback" in line], log
    assert any("no setting chunk_ms any more" in line for line in log)
    assert (home / "lexicon.txt").read_text() == LEXICON
    assert (home / "config.toml").read_bytes() == (stored / "config.toml").read_bytes()
