"""Front matter, notes and back matter, told from a book's body by the publisher's own marks or by a chapter's title."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set

from books.book import Matter

_BY_TYPE = {
    **dict.fromkeys(
        [
            "cover",
            "titlepage",
            "halftitlepage",
            "copyright-page",
            "imprint",
            "imprimatur",
            "dedication",
            "epigraph",
            "toc",
            "landmarks",
            "loi",
            "lot",
            "loa",
            "lov",
            "seriespage",
            "doc-cover",
            "doc-dedication",
            "doc-epigraph",
            "doc-toc",
        ],
        Matter.FRONT,
    ),
    **dict.fromkeys(
        ["footnotes", "endnotes", "rearnotes", "doc-endnotes", "doc-footnote", "doc-footnotes"],
        Matter.NOTES,
    ),
    **dict.fromkeys(
        [
            "index",
            "bibliography",
            "colophon",
            "acknowledgments",
            "acknowledgements",
            "contributors",
            "other-credits",
            "errata",
            "doc-index",
            "doc-bibliography",
            "doc-colophon",
            "doc-acknowledgments",
            "doc-credits",
            "doc-errata",
        ],
        Matter.BACK,
    ),
}
_TITLES = {
    Matter.FRONT: (
        "contents|(?:the )?table of contents|(?:half[ -]?)?title ?page|cover(?: page)?|front cover|copyright(?: "
        "page| notice)?|imprint|"
        "dedication|epigraph|(?:also|other books|books) by .*|(?:advance )?praise(?: for .*)?|list of "
        "(?:illustrations|figures|tables|maps|plates)|"
        "illustrations|maps?|transcriber'?s? notes?|frontispiece|"
        "inhalt(?:sverzeichnis)?|impressum|widmung|sommaire|table des matieres|couverture|page de titre|droits "
        "d'auteur|dedicace|"
        "indice(?: general)?|sumario|cubierta|portada|creditos|dedicatoria|copertina|frontespizio|sommario|dedica|"
        "capa|folha de rosto|"
        "目次|目录|目錄|版权(?:页|信息)?|封面|扉页|表紙|विषय[ -]?सूची|अनुक्रमणिका"
    ),
    Matter.NOTES: "(?:foot|end)?notes?(?: to .*)?|notas(?: (?:al pie|de rodape))?|notes de bas de page|anmerkungen|"
    "fussnoten|注释|註釋|注|脚注",
    Matter.BACK: (
        "(?:general |subject )?index|bibliography|works cited|references|(?:further|suggested) reading|colophon|"
        "acknowledge?ments?|about the (?:author|publisher|translator)s?|"
        "(?:the )?full project gutenberg licen[sc]e|back cover|credits|bibliografia|bibliographie|literaturverzeichnis|"
        "remerciements|agradecimientos|agradecimentos|ringraziamenti|danksagung|sobre (?:el|la|o|a) autora?|a "
        "propos de l'auteur|"
        "奥付|索引|参考文献"
    ),
}
_COMPILED = {matter: re.compile(pattern) for matter, pattern in _TITLES.items()}


def matter_of(title: str, types: Set[str] = frozenset()) -> Matter:
    """Part of the book that a chapter belongs to.

    A preface, foreword, introduction, prologue, epilogue or appendix is body: its reader would not skip it.

    Args:
        types: values of `epub:type` and `role` where the chapter begins. They outweigh the title.
    """
    for name, matter in _BY_TYPE.items():
        if name in types:
            return matter
    plain = unicodedata.normalize("NFD", title.casefold())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter) or "ऀ" <= letter <= "ॿ")
    plain = " ".join(unicodedata.normalize("NFC", plain).replace("’", "'").strip(" .:*—–-").split())
    return next((matter for matter, pattern in _COMPILED.items() if pattern.fullmatch(plain)), Matter.BODY)
