"""EPUBs made for tests, with the habits of many makers."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="{}" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def page(body: str, title: str = "") -> str:
    """An XHTML document."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{escape(title)}</title></head>{body}</html>'
    )


def nav(items: str) -> str:
    """An EPUB 3 navigation document around the items of its list."""
    pages = '<nav epub:type="page-list"><ol><li><a href="x">9</a></li></ol></nav>'
    return page(f'<body><nav epub:type="toc"><ol>{items}</ol></nav>{pages}</body>')


def ncx(points: Sequence[tuple[str, str]]) -> str:
    """An EPUB 2 table of contents of (title, link)."""
    inside = "".join(
        f'<navPoint id="p{n}"><navLabel><text>{escape(title)}</text></navLabel><content src="{link}"/></navPoint>'
        for n, (title, link) in enumerate(points)
    )
    return (
        '<?xml version="1.0"?>'
        '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">'
        f"<navMap>{inside}</navMap></ncx>"
    )


@dataclass
class MadeEpub:
    """An EPUB under construction: documents in reading order, and whatever else."""

    documents: Mapping[str, str]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    toc: str = ""
    """A navigation document (EPUB 3) or NCX (EPUB 2)."""
    metadata: str = "<dc:title>Made</dc:title><dc:creator>Ada</dc:creator><dc:language>en</dc:language>"
    manifest: str = ""
    opf: str = "OEBPS/content.opf"

    def package(self) -> str:
        """The package document."""
        items = "".join(
            f'<item id="d{n}" href="{name}" media-type="application/xhtml+xml"/>'
            for n, name in enumerate(self.documents)
        )
        refs = "".join(f'<itemref idref="d{n}"/>' for n, _ in enumerate(self.documents))
        tables = ""
        if "<ncx" in self.toc:
            tables = '<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        elif self.toc:
            tables = '<item id="toc" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        return (
            '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{self.metadata}</metadata>'
            f'<manifest>{items}{tables}{self.manifest}</manifest><spine toc="toc">{refs}</spine></package>'
        )

    def bytes(self) -> bytes:
        """The archive."""
        folder = self.opf.rpartition("/")[0]
        prefix = f"{folder}/" if folder else ""
        made: dict[str, str | bytes] = {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER.format(self.opf),
        }
        made[self.opf] = self.package()
        made |= {
            f"{prefix}{name}": page(body, name) if "<html" not in body else body
            for name, body in self.documents.items()
        }
        if self.toc:
            made[f"{prefix}{'toc.ncx' if '<ncx' in self.toc else 'nav.xhtml'}"] = self.toc
        made |= dict(self.files)
        stored = io.BytesIO()
        with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in made.items():
                archive.writestr(name, content)
        return stored.getvalue()
