"""`docs/clients.md`: each section names the test that checks it, and each test of a client is named."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "clients.md").read_text()
EXPLAINS = "Keys and other machines"


def test_every_section_names_a_test_that_is_there() -> None:
    _, *sections = PAGE.split("\n## ")
    for section in sections:
        title = section.splitlines()[0]
        named = re.findall(r"Checked by `(tests/[\w/]+\.py)`", section)
        assert len(named) == (0 if title == EXPLAINS else 1), title
        assert all((ROOT / name).is_file() for name in named), title


def test_every_test_of_a_client_is_named() -> None:
    tests = {f"tests/clients/{file.name}" for file in Path(__file__).parent.glob("test_*.py")} - {
        f"tests/clients/{Path(__file__).name}"
    }
    assert tests <= {*re.findall(r"`(tests/clients/\w+\.py)`", PAGE)}
