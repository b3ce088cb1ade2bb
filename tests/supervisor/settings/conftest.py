"""No variable is set that wins over the file."""

import pytest


@pytest.fixture(autouse=True)
def environment(environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "PACKAGED_MODEL"):
        monkeypatch.delenv(f"KOKORO_LIVE_{name}")
