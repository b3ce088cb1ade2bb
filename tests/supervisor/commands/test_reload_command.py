"""`kokoro-live reload` where no server runs; `tests.system.test_replacement` tells a real one."""

from __future__ import annotations

from click.testing import CliRunner

from supervisor.cli import kokoro_live
from tests.ports import lasting_port


def test_a_port_on_which_no_server_listens_is_one_clear_line() -> None:
    port = lasting_port()
    told = CliRunner().invoke(kokoro_live, ["reload", "--url", f"http://127.0.0.1:{port}"])
    assert told.exit_code == 3
    assert f"no server of yours listens on port {port}" in told.output
