from __future__ import annotations

from pathlib import Path

from benchmarks.reading_changes import changes, corpus, readings


def _packages(folder: Path, pages: dict[str, str]) -> Path:
    for package in (
        "debian-handbook",
        "gnome-user-docs",
        "installation-guide-amd64",
        "libreoffice-help-es",
        "fortunes-es",
    ):
        (folder / package).mkdir(parents=True)
    for name, content in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_paragraphs_of_a_language_come_from_its_pages_alone_and_those_with_numbers_first(tmp_path: Path) -> None:
    pages = {
        "debian-handbook/es-ES/a.html": "<p>Sin nada que\n leer</p><td>Cuesta <b>12&nbsp;&euro;</b></td>",
        "debian-handbook/it-IT/a.html": "<p>Costa 12 euro</p>",
        "gnome-user-docs/help/es/b.page": "<title>Son las 14:30</title>",
        "fortunes-es/games/fortunes/refranes": "Más vale tarde\n%\nNunca 2 sin 3\n\n        -- Anónimo\n",
        "fortunes-es/games/fortunes/refranes.dat": "Nunca 4 sin 5",
    }
    found = corpus("es", _packages(tmp_path, pages), most=10)
    assert set(found[:3]) == {"Cuesta 12 €", "Son las 14:30", "Nunca 2 sin 3"}
    assert set(found[3:]) == {"Sin nada que leer", "Más vale tarde", "-- Anónimo"}
    assert corpus("es", tmp_path, most=2) == found[:2]


def test_readings_are_those_of_the_named_checkout(tmp_path: Path) -> None:
    assert readings("en-us", ["It costs $5."], Path.cwd()) == ["It costs five dollars."]
    other = tmp_path / "text"
    for module in ("normalization/normalize", "normalization/settings", "words/sanitize"):
        (other / module).parent.mkdir(parents=True, exist_ok=True)
        for part in (other, (other / module).parent):
            (part / "__init__.py").touch()
    (other / "normalization/normalize.py").write_text("def normalize(text, *_): return text.upper()")
    (other / "normalization/settings.py").write_text("Normalization = dict")
    (other / "words/sanitize.py").write_text("sanitize = str")
    assert readings("en-us", ["It costs $5."], tmp_path) == ["IT COSTS $5."]


def test_a_change_stands_in_its_surroundings() -> None:
    assert list(changes("a b c d e f g h", "a b c d E f g h")) == ["b c d e f g h  →  b c d E f g h"]
    assert list(changes("値段は五ドルです", "値段は5ドルです", joint="")) == ["値段は五ドルです  →  値段は5ドルです"]
