"""Copies of espeak-ng's installation, to be damaged."""

import random
from importlib.metadata import distribution
from pathlib import Path

import espeakng_loader

DATA = "espeak-ng-data"
LIBRARY = Path(espeakng_loader.get_library_path()).name
PARTS = (
    LIBRARY,
    DATA,
    *(f"{DATA}/{name}" for name in ("phontab", "phonindex", "phondata", "intonations", "en_dict", "lang/gmw/en-US")),
    f"{DATA}/lang",
    f"{DATA}/voices/!v",
)
"""Files and folders of the package."""

FILE_DAMAGES = ("missing", "emptied", "halved", "first bytes", "noise", "a folder in its place")
FOLDER_DAMAGES = ("missing", "emptied")

_PACKAGE = Path(espeakng_loader.__file__).parent


def damages(part: str) -> tuple[str, ...]:
    return FOLDER_DAMAGES if (_PACKAGE / part).is_dir() else FILE_DAMAGES


def copied(site: Path, part: str) -> Path:
    """A copy of the package in `site`, a folder for Python to search; the path of a part of it. Files and folders are
    links, up to the part itself."""
    copy = site / _PACKAGE.name
    _open_up(_PACKAGE, copy, part.split("/")[:-1])
    about = next(file for file in distribution("espeakng-loader").files or () if file.name == "RECORD")
    (site / Path(str(about)).parent).symlink_to(Path(str(about.locate())).parent)
    return copy / part


def _open_up(original: Path, copy: Path, path: list[str]) -> None:
    """Make `copy` a folder of links to the original's content, and so on along the path."""
    if copy.is_symlink():
        copy.unlink()
    copy.mkdir(parents=True)
    for entry in original.iterdir():
        (copy / entry.name).symlink_to(entry)
    if path:
        _open_up(original / path[0], copy / path[0], path[1:])


def damage(path: Path, how: str) -> None:
    if path.is_dir():
        path.unlink()
        if how == "emptied":
            path.mkdir()
        return
    content = path.read_bytes()
    path.unlink()
    if how == "a folder in its place":
        path.mkdir()
    elif how != "missing":
        noise = random.Random(len(content)).randbytes
        kept = {"emptied": b"", "halved": content[: len(content) // 2], "first bytes": content[:7]}
        path.write_bytes(kept[how] if how in kept else noise(len(content)))
