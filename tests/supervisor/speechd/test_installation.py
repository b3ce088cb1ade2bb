"""`install-speechd` and `uninstall-speechd`: only the user's files, and only our lines in them."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from supervisor.commands.install import install_speechd, uninstall_speechd
from supervisor.speechd import installation
from supervisor.speechd.config import ModuleConfig, read_config
from supervisor.speechd.installation import SYSTEM_CONFIG, InstalledFiles

PROGRAM = "home/.local/libexec/speech-dispatcher-modules/sd_kokoro"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "KOKORO_LIVE_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def call(command: object, *arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(command, arguments)  # type: ignore[arg-type]
    assert result.exit_code == status, result.output
    return result.output


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_it_writes_the_program_its_configuration_and_the_default(home: Path) -> None:
    output = call(install_speechd, "--url", "http://127.0.0.1:1/", "--voice", "af_heart", "--instant-words", "0")
    written = files(home)
    assert set(written) == {
        PROGRAM,
        "home/.config/speech-dispatcher/modules/kokoro.conf",
        "home/.config/speech-dispatcher/speechd.conf",
    }
    assert all(str(home / name) in output for name in written)
    assert (home / "home/.local/share").is_dir()  # Speech Dispatcher looks for ~/.local/share/../libexec
    config = read_config(home / "home/.config/speech-dispatcher/modules/kokoro.conf")
    assert config == ModuleConfig("http://127.0.0.1:1", "af_heart", 0, True)
    dispatcher = written["home/.config/speech-dispatcher/speechd.conf"]
    assert "DefaultModule kokoro\n" in dispatcher
    assert (f'Include "{SYSTEM_CONFIG}"' in dispatcher) is SYSTEM_CONFIG.exists()
    done = subprocess.run([home / PROGRAM], input=b"INIT\nQUIT\n", capture_output=True, cwd=home, timeout=60)
    assert done.stdout.splitlines()[1:] == [b"299 OK LOADED SUCCESSFULLY", b"210 OK QUIT"], done.stderr
    call(uninstall_speechd)
    assert not files(home)
    assert "isn't installed" in call(uninstall_speechd, status=1)


@pytest.mark.parametrize("lists", [False, True])
def test_the_users_own_lines_stay(home: Path, lists: bool) -> None:
    own = "LogLevel 2\n" + 'AddModule "espeak-ng" "sd_espeak-ng" "espeak-ng.conf"\n' * lists + "DefaultVolume 50"
    path = home / "home/.config/speech-dispatcher/speechd.conf"
    path.parent.mkdir(parents=True)
    path.write_text(own)
    for _ in range(2):
        call(install_speechd)
        assert path.read_text().startswith(own + "\n")
        assert path.read_text().count("DefaultModule kokoro") == 1
        assert path.read_text().count('AddModule "kokoro" "sd_kokoro" "kokoro.conf"') == lists
        assert "Include" not in path.read_text()
    call(install_speechd, "--no-default")
    assert "DefaultModule" not in path.read_text()
    call(uninstall_speechd)
    assert path.read_text().rstrip("\n") == own


def test_a_link_of_the_users_stays_one(home: Path) -> None:
    """Many keep their configuration in a repository, and link to it."""
    dotfile = home / "dotfiles/speechd.conf"
    dotfile.parent.mkdir()
    path = home / "home/.config/speech-dispatcher/speechd.conf"
    path.parent.mkdir(parents=True)
    path.symlink_to(dotfile)
    for own in ("LogLevel 2\n", ""):
        dotfile.write_text(own)
        call(install_speechd)
        assert path.is_symlink() and "DefaultModule kokoro\n" in dotfile.read_text()
        call(uninstall_speechd)
        assert path.is_symlink() and dotfile.read_text() == own
    assert list(dotfile.parent.iterdir()) == [dotfile]


def test_a_file_keeps_its_mode_and_its_bytes(home: Path) -> None:
    path = home / "home/.config/speech-dispatcher/speechd.conf"
    path.parent.mkdir(parents=True)
    own = b"# F\xfcr Orca\nLogLevel 2\n"
    path.write_bytes(own)
    path.chmod(0o600)
    call(install_speechd)
    assert path.read_bytes().startswith(own) and path.stat().st_mode & 0o777 == 0o600
    call(uninstall_speechd)
    assert path.read_bytes() == own and path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("default", ["--default", "--no-default"])
def test_a_system_that_lists_its_modules_gets_this_one_too(
    home: Path, monkeypatch: pytest.MonkeyPatch, default: str
) -> None:
    system = home / "speechd.conf"
    system.write_text('AddModule "espeak-ng" "sd_espeak-ng" "espeak-ng.conf"\n')
    monkeypatch.setattr(installation, "SYSTEM_CONFIG", system)
    call(install_speechd, default)
    written = (home / "home/.config/speech-dispatcher/speechd.conf").read_text()
    assert f'Include "{system}"\nAddModule "kokoro" "sd_kokoro" "kokoro.conf"\n' in written
    call(uninstall_speechd)
    assert set(files(home)) == {"speechd.conf"}


def test_places_follow_the_users_variables() -> None:
    places = InstalledFiles.of({"XDG_DATA_HOME": "/d/share", "XDG_CONFIG_HOME": "/c"}, Path("/home/me"))
    assert str(places.program) == "/d/libexec/speech-dispatcher-modules/sd_kokoro"
    assert str(places.config) == "/c/speech-dispatcher/modules/kokoro.conf"


def test_lines_that_cannot_be_read_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "kokoro.conf"
    path.write_text('Url "http://h:1/"\nColour red\nInstantWords many\nInstantCharacters off # all by the server\n')
    assert read_config(path) == ModuleConfig("http://h:1", instant_characters=False)
    assert [record.args[1] for record in caplog.records if isinstance(record.args, tuple)] == [2, 3]
