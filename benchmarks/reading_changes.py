"""Readings of thousands of real paragraphs that differ from those of another checkout of this project.

    git worktree add OTHER COMMIT
    python -m benchmarks.reading_changes OTHER --languages es,it [--limit 100] [--packages FOLDER]

A rule that is right for the lines that it was made for may spoil prose; who changes rules reads what this prints. The
paragraphs come from handbooks, help pages and quotations in Debian packages, which `apt-get download` brings into a
folder, where they stay (90 MB of downloads for all languages).
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

HANDBOOKS = ("debian-handbook", "gnome-user-docs", "installation-guide-amd64")
"""Packages with a folder for each language."""
PACKAGES = {
    "en-us": ("libreoffice-help-en-us", "fortunes"),
    "es": ("libreoffice-help-es", "fortunes-es"),
    "fr-fr": ("libreoffice-help-fr", "fortunes-fr"),
    "it": ("libreoffice-help-it", "fortunes-it"),
    "pt-br": ("libreoffice-help-pt-br", "fortunes-br"),
    "hi": ("libreoffice-help-hi",),
    "ja": ("libreoffice-help-ja",),
    "cmn": ("libreoffice-help-zh-cn", "fortunes-zh"),
}
_FOLDERS = {"en-us": "en|C|en-US", "fr-fr": "fr|fr-FR", "pt-br": "pt_BR|pt-BR", "ja": "ja|ja-JP", "cmn": "zh_CN|zh-CN"}
"""Folders of a language in the handbooks, where they aren't its code alone or with its country."""
_BLOCK = re.compile(r"<(p|li|td|dd|dt|h\d|title|desc)\b[^>]*>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_UNSURE = re.compile(r"\d|[$€£%°@#&]|\b[A-Z]{2,}\b|\w\.\s\w")
"""Something that is read otherwise than it is written, perhaps."""
_LONGEST = 420
_UNSPACED = ("ja", "cmn")


def paragraphs(file: Path) -> Iterator[str]:
    """Paragraphs of a page of HTML or Mallard, or quotations of a file of fortunes; none for any other file."""
    if file.suffix in (".html", ".page"):
        written = file.read_text(encoding="utf-8", errors="ignore")
        found: Iterable[str] = (html.unescape(re.sub(r"<[^>]+>", "", block[2])) for block in _BLOCK.finditer(written))
    elif "fortunes" in file.parts and not file.suffix:
        found = re.split(r"\n%\n|\n\n|\n(?=\s)", file.read_text(encoding="utf-8", errors="ignore"))
    else:
        return
    for paragraph in found:
        plain = " ".join(paragraph.split())
        if 6 <= len(plain) <= _LONGEST:
            yield plain


def corpus(language: str, folder: Path, most: int) -> list[str]:
    """Distinct paragraphs of a language's packages, those first that hold a number, a sign or an abbreviation.

    Raises:
        subprocess.CalledProcessError: a package can't be had, or isn't one.
    """
    names = re.compile(_FOLDERS.get(language, rf"{language}|{language}-[A-Z]{{2}}"))
    found = set[str]()
    for package in (*HANDBOOKS, *PACKAGES[language]):
        root = _unpacked(package, folder)
        for file in root.rglob("*"):
            inside = package not in HANDBOOKS or any(names.fullmatch(part) for part in file.relative_to(root).parts)
            if inside and file.is_file() and not file.is_symlink():
                found.update(paragraphs(file))
    ordered = sorted(found)
    random.Random(language).shuffle(ordered)
    return sorted(ordered, key=lambda paragraph: not _UNSURE.search(paragraph))[:most]


def _unpacked(package: str, folder: Path) -> Path:
    root = folder / package
    if not root.exists():
        subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
        archive = next(folder.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, root], check=True)
        archive.unlink()
    return root


def read() -> None:
    """Read paragraphs of a language from the standard input as a JSON pair; print their readings as a JSON list."""
    from text.normalization.normalize import normalize
    from text.normalization.settings import Normalization
    from text.words.sanitize import sanitize

    language, written = json.load(sys.stdin)
    settings = Normalization()
    print(json.dumps([normalize(sanitize(paragraph), language, settings) for paragraph in written]))


def readings(language: str, written: Sequence[str], checkout: Path) -> list[str]:
    """Words that a checkout says for each paragraph.

    Raises:
        subprocess.CalledProcessError: it raised an exception.
    """
    # This file runs as a script, since an older checkout has no such module.
    command = [sys.executable, "-c", "import runpy, sys; runpy.run_path(sys.argv[1])['read']()", __file__]
    asked = json.dumps([language, written])
    done = subprocess.run(command, cwd=checkout, input=asked, text=True, check=True, stdout=subprocess.PIPE)
    said: list[str] = json.loads(done.stdout)
    return said


def changes(before: str, after: str, joint: str = " ") -> Iterator[str]:
    """Each changed run of words of a reading in its surroundings: before → after."""
    old, new = (text.split() if joint else list(text) for text in (before, after))
    near = 3 if joint else 8
    for kind, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            sides = (old[max(0, i - near) : i_end + near], new[max(0, j - near) : j_end + near])
            yield "  →  ".join(joint.join(side) for side in sides)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.reading_changes", description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--languages", default=",".join(PACKAGES), help="separated by commas")
    parser.add_argument("--limit", type=int, default=100, help="kinds of changes printed for each language")
    parser.add_argument("--paragraphs", type=int, default=10_000, help="read in each language, at most")
    parser.add_argument("--packages", type=Path, default=Path("bench-results/packages"), help="where they are unpacked")
    options = parser.parse_args()
    options.packages.mkdir(parents=True, exist_ok=True)
    for language in options.languages.split(","):
        written = corpus(language, options.packages, options.paragraphs)
        theirs, ours = (readings(language, written, checkout) for checkout in (options.other, Path.cwd()))
        changed = [pair for pair in zip(theirs, ours, strict=True) if pair[0] != pair[1]]
        joint = "" if language in _UNSPACED else " "
        kinds = Counter(change for before, after in changed for change in changes(before, after, joint))
        print(f"{language}: {len(changed)} of {len(written)} paragraphs are read otherwise, {len(kinds)} changes")
        for change, times in kinds.most_common(options.limit):
            print(f"{times:5}  {change}")


if __name__ == "__main__":
    main()
