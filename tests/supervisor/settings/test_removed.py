"""Settings of earlier versions: each is named in one line, and the command goes on without it."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from supervisor.settings.command import SettingsCommand
from supervisor.settings.composition import KINDS, SETTINGS, Settings
from supervisor.settings.options import _table, is_removed, settings_options, without_removed


def ask(*arguments: str, **variables: str) -> tuple[Result, Settings | None]:
    got: list[Settings] = []

    @click.command(cls=SettingsCommand)
    @settings_options(*KINDS)
    def command(**values: object) -> None:
        got.append(Settings.of(values))

    result = CliRunner().invoke(command, arguments, env=variables)
    return result, got[0] if got else None


def test_no_setting_of_today_is_removed() -> None:
    assert not [name for name in SETTINGS if is_removed(name)]


def test_a_file_and_a_variable_go_on_without_it(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("port = 1\nspin_duration = 0.5\nnormalize_dates = false\n")
    result, settings = ask("--config", str(config), KOKORO_LIVE_HEADING_PAUSE_SECONDS="2", KOKORO_LIVE_RINGS="3")
    assert settings and (settings.supervisor.port, settings.supervisor.rings) == (1, 3)
    assert set(result.stderr.splitlines()) == {
        f"{config}: there is no setting spin_duration any more, and it is ignored",
        f"{config}: there is no setting normalize_dates any more, and it is ignored; "
        "--normalize-without lists the rules that are left out",
        "KOKORO_LIVE_HEADING_PAUSE_SECONDS: there is no setting heading_pause_seconds any more, and it is ignored; "
        "--pauses sets it",
    }


@pytest.mark.parametrize(
    ("arguments", "kept", "named"),
    [
        (["--spin-duration", "0.5", "--port", "1"], ["--port", "1"], ["--spin-duration"]),
        (["--spin-duration=0.5", "--port", "1"], ["--port", "1"], ["--spin-duration"]),
        (["--no-normalize-dates", "--port", "1"], ["--port", "1"], ["--no-normalize-dates"]),
        (["--no-deepgram", "--memory-arena", "--tuned"], ["--tuned"], ["--no-deepgram", "--memory-arena"]),
        (["--normalize-without", "dates", "--unknown"], ["--normalize-without", "dates", "--unknown"], []),
        (["--chunk-ms"], [], ["--chunk-ms"]),
    ],
)
def test_a_flag_and_its_value_are_left_out(arguments: list[str], kept: list[str], named: list[str]) -> None:
    found, lines = without_removed(arguments)
    assert found == kept
    assert [line.partition(":")[0] for line in lines] == named


def test_a_command_goes_on_without_the_flag() -> None:
    result, settings = ask("--no-cartesia", "--port", "7")
    assert settings and settings.supervisor.port == 7
    assert result.stderr.startswith("--no-cartesia: there is no setting cartesia any more")


@pytest.mark.parametrize(("written", "says"), [("deepgram,alexa", "dialects: there is no 'alexa'"), ("none", "'none'")])
def test_a_dialect_that_nobody_speaks_is_refused(written: str, says: str) -> None:
    result, settings = ask("--dialects", written)
    assert settings is None and says in str(result.exception)


def test_dialects_are_answered_by_name() -> None:
    _, settings = ask("--dialects", "deepgram")
    assert settings and settings.front.answers_dialect("deepgram") and not settings.front.answers_dialect("cartesia")
    _, none = ask("--dialects", "")
    assert none and not none.front.answers_dialect("deepgram")
    assert Settings().front.answers_dialect("deepgram")


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("KOKORO_PORT", "KOKORO_LIVE_PORT or --port is the setting"),
        ("KOKORO_ONNX_PROVIDER", "KOKORO_LIVE_PROVIDER or --provider is the setting"),
        ("KOKORO_STREAM_FORMAT", "KOKORO_LIVE_DEFAULT_FORMAT or --default-format is the setting"),
        ("KOKORO_DEFAULT_VOICES", "KOKORO_LIVE_DEFAULT_VOICE or --default-voice is the setting"),
        ("KOKORO_GRPO", "docs/coming-from.md and docs/settings.md have the settings"),
    ],
)
def test_a_variable_of_another_server_is_named_with_the_setting(variable: str, told: str) -> None:
    result, settings = ask(**{variable: "1", "KOKORO_LIVE_RINGS": "3", "KOKOROS": "no server's"})
    assert settings and settings.supervisor.rings == 3
    assert result.stderr.splitlines() == [f"{variable} is not read here; {told}"]


def test_every_setting_that_stands_for_another_servers_exists() -> None:
    assert set(_table()["others"].values()) <= set(SETTINGS)
