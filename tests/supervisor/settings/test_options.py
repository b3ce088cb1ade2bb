"""Settings from flags, variables and the file: which one wins, and what happens to those that make no sense."""

import dataclasses
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from supervisor.settings.composition import KINDS, SETTINGS, Settings
from supervisor.settings.options import settings_options, variable
from supervisor.settings.supervisor import SupervisorSettings


def ask(arguments: list[str], variables: dict[str, str] | None = None) -> tuple[Result, Settings | None]:
    """Run a command with all settings' options; what it was given."""
    got: list[Settings] = []

    @click.command()
    @settings_options(*KINDS)
    def command(**values: object) -> None:
        got.append(Settings.of(values))

    result = CliRunner().invoke(command, arguments, env=variables or {})
    return result, got[0] if got else None


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_a_flag_wins_over_a_variable_over_the_file_over_the_default(config: Path) -> None:
    config.write_text("port = 1\nthreads = 2\nrings = 30\n")
    named = ["--config", str(config)]
    variables = {"KOKORO_LIVE_PORT": "4", "KOKORO_LIVE_THREADS": "5"}
    _, settings = ask([*named, "--port", "6"], variables)
    assert settings
    assert (settings.supervisor.port, settings.worker.threads, settings.supervisor.rings) == (6, 5, 30)
    assert settings.supervisor.host == "127.0.0.1"


def test_without_anything_the_defaults_are_the_dataclasses_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KOKORO_LIVE_PACKAGED_MODEL", raising=False)  # the whole suite has it
    _, settings = ask([])
    assert settings == Settings()


def test_every_setting_has_a_flag_and_a_variable(config: Path) -> None:
    result, _ = ask(["--help"])
    for name in SETTINGS:
        assert f"--{name.replace('_', '-')}" in result.output
        assert variable(name) in result.output.replace("\n", "").replace(" ", "")


def test_a_command_that_reads_some_settings_takes_a_servers_file(config: Path) -> None:
    got: list[dict[str, object]] = []

    @click.command()
    @settings_options(*KINDS, reads=("threads", "model"))
    def command(**values: object) -> None:
        got.append(values)

    config.write_text("port = 1\nthreads = 2\n")
    named = ["--config", str(config)]
    assert CliRunner().invoke(command, named).exit_code == 0
    assert got == [{"threads": 2, "model": None}]
    assert "No such option" in CliRunner().invoke(command, [*named, "--port", "1"]).output
    config.write_text("prot = 1\n")
    assert "no such setting: prot" in CliRunner().invoke(command, named).output


def test_no_name_stands_in_two_places() -> None:
    names = [field.name for kind in KINDS for field in dataclasses.fields(kind)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("prot = 1", "no such setting: prot"),
        ("port = [", "can't be read"),
        ("port = 'many'", "port must be a whole number, not a text"),
        ("port = 70000", "port must be 0 to 65535"),
        ("workers = 17", "workers must be 1 to 16"),
        ("engine = 'festival'", "festival"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_with_its_reason(config: Path, text: str, complaint: str) -> None:
    config.write_text(text)
    result, settings = ask(["--config", str(config)])
    assert settings is None and result.exit_code != 0
    assert complaint in result.output + str(result.exception)


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    result, _ = ask(["--config", str(tmp_path / "absent.toml")])
    assert result.exit_code == 2 and "absent.toml" in result.output


def test_a_flag_that_is_a_switch_can_be_turned_off_again(config: Path) -> None:
    config.write_text("offline = true\n")
    assert ask(["--config", str(config)])[1].supervisor.offline is True  # type: ignore[union-attr]
    assert ask(["--config", str(config), "--no-offline"])[1].supervisor.offline is False  # type: ignore[union-attr]


def test_a_path_is_a_path() -> None:
    _, settings = ask(["--model", "some/model.onnx"])
    assert settings and settings.worker.model == Path("some/model.onnx")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ("A=1,B=2", ("A=1", "B=2")),
        (" A = 1 , B=2,", ("A = 1", "B=2")),
        ("device_type=AUTO:GPU,CPU", ("device_type=AUTO:GPU,CPU",)),
        ("device_type=AUTO:GPU,CPU,num_streams=2", ("device_type=AUTO:GPU,CPU", "num_streams=2")),
    ],
)
def test_a_comma_may_be_in_a_providers_option(written: str, options: tuple[str, ...]) -> None:
    for found in (ask(["--provider-options", written])[1], ask([], {"KOKORO_LIVE_PROVIDER_OPTIONS": written})[1]):
        assert found and found.worker.provider_options == options


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ("provider_options = 'A=1,B=2'", ("A=1", "B=2")),
        ("provider_options = ['A=1,B=2', 'C=3']", ("A=1,B=2", "C=3")),
        ("[provider_options]\ndevice_type = 'AUTO:GPU,CPU'\nload_config = '/a,b=c'\nnum_streams = 2",
         ("device_type=AUTO:GPU,CPU", "load_config=/a,b=c", "num_streams=2")),
    ],
)  # fmt: skip
def test_in_the_file_options_of_a_provider_are_a_text_a_list_or_a_table(
    config: Path, written: str, options: tuple[str, ...]
) -> None:
    config.write_text(written)
    found = ask(["--config", str(config)])[1]
    assert found and found.worker.provider_options == options


@pytest.mark.parametrize("written", ["[provider_options]\nA = true", "provider_options = [1]", "provider_options = 1"])
def test_options_of_a_provider_that_are_neither_are_refused(config: Path, written: str) -> None:
    config.write_text(written)
    result, settings = ask(["--config", str(config)])
    assert settings is None and result.exit_code == 2 and "provider" in result.output


@pytest.mark.parametrize(
    ("given", "seconds"), [("900", 900.0), ("900s", 900.0), ("15m", 900.0), ("1.5h", 5400.0), ("1d", 86_400.0)]
)
def test_a_duration_may_have_a_unit(given: str, seconds: float) -> None:
    _, settings = ask(["--idle-unload", given])
    assert settings and settings.front.idle_unload == seconds


def test_a_duration_in_a_file_is_a_number_or_a_text(config: Path) -> None:
    for written in ("900", '"15m"'):
        config.write_text(f"idle_unload = {written}\n")
        _, settings = ask(["--config", str(config)])
        assert settings and settings.front.idle_unload == 900.0


def test_a_duration_without_a_meaning_is_refused() -> None:
    result, settings = ask(["--idle-unload", "soon"])
    assert settings is None and "900, 15m" in result.output


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_wyoming_port_that_is_none_is_refused(port: int) -> None:
    with pytest.raises(ValueError, match="wyoming_port must be 0 to 65535"):
        SupervisorSettings(wyoming_port=port)


@pytest.mark.parametrize("how", ["flag", "variable", "file", "list in the file"])
def test_a_list_comes_from_everywhere(how: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text({"file": 'api_keys = "a, b"', "list in the file": 'api_keys = ["a", "b"]'}.get(how, ""))
    arguments = ["--config", str(file), *(["--api-keys", "a, b,"] if how == "flag" else [])]
    _, settings = ask(arguments, {"KOKORO_LIVE_API_KEYS": "a,b"} if how == "variable" else None)
    assert settings and settings.front.api_keys == ("a", "b")


def test_a_list_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("cors_origins = [1]")
    result, settings = ask(["--config", str(file)])
    assert settings is None and "between them" in result.output


def test_help_does_not_show_the_keys_of_the_settings_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('api_keys = ["sesame"]')
    result, _ = ask(["--config", str(file), "--help"], {"KOKORO_LIVE_API_KEYS": "sesame"})
    assert "--api-keys" in result.output and "sesame" not in result.output
