"""EPUBs packaged in the ways of many makers, around bodies with the habits of `tests.books.made_markup`."""

import codecs
import io
import unicodedata
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.books.made_markup import CONTAINER, HABITS, Words, page

Files = dict[str, bytes]
Edit = Callable[[Files], None]
XHTML = "application/xhtml+xml"
_OPF = (
    '<?xml version="1.0" encoding="utf-8"?><package xmlns="http://www.idpf.org/2007/opf" version="{version}" '
    'unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    '<dc:identifier id="id">x</dc:identifier>'
    "<dc:title>Made</dc:title><dc:language>en</dc:language></metadata><manifest>{items}</manifest>"
    "<spine{toc}>{refs}</spine></package>"
)
_NCX = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" '
    '"http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{}</navMap>'
    "</ncx>"
)


@dataclass
class Made:
    """One EPUB, and what must be read from it."""

    data: bytes
    spoken: list[str]
    """Words of the body in order."""
    titles: list[str] | None = None
    """Titles of the body's chapters, where the habit decides them."""


@dataclass(frozen=True)
class Packaging:
    toc: str = "nav"
    """`nav`, `ncx`, `both`, or nothing."""
    opf: str = "OEBPS/content.opf"
    documents: str = "c{}.xhtml"
    """Names of documents from the package document's folder."""
    links: str = ""
    """The names as manifest and tables write them, if otherwise."""
    fragments: bool = False
    """The tables point at identifiers within the documents."""
    media_type: str = XHTML
    encode: Callable[[str], bytes] = str.encode
    """The encoding of a document's text."""
    edit: Edit = lambda files: None
    """Changes files by their names before they are packed."""
    method: int = zipfile.ZIP_DEFLATED
    version: str = "3.0"
    titled: bool = True
    """The tables' titles are those of the chapters."""

    def make(self, habits: Sequence[str]) -> Made:
        """An EPUB with a document for each habit."""
        words = Words()
        bodies = [HABITS[habit](words) for habit in habits]
        links = [(self.links or self.documents).format(number) for number, _ in enumerate(bodies, 1)]
        folder = self.opf.rpartition("/")[0]
        prefix = f"{folder}/" if folder else ""
        files: Files = {
            "mimetype": b"application/epub+zip",
            "META-INF/container.xml": CONTAINER.format(self.opf).encode(),
            self.opf: self._package(links).encode(),
        }
        for number, body in enumerate(bodies, 1):
            document = page(f'<body id="top"><div id="start">{body}</div></body>', f"Document {number}")
            files[prefix + self.documents.format(number)] = self.encode(document)
        targets = [f"{link}#start" if self.fragments else link for link in links]
        if self.toc in ("nav", "both"):
            lines = "".join(f'<li><a href="{link}">Title {n}</a></li>' for n, link in enumerate(targets, 1))
            files[f"{prefix}nav.xhtml"] = page(f'<body><nav epub:type="toc"><ol>{lines}</ol></nav></body>').encode()
        if self.toc in ("ncx", "both"):
            points = "".join(
                f'<navPoint><navLabel><text>Title {n}</text></navLabel><content src="{link}"/></navPoint>'
                for n, link in enumerate(targets, 1)
            )
            files[f"{prefix}toc.ncx"] = _NCX.format(points).encode()
        self.edit(files)
        titles = [f"Title {n}" for n, _ in enumerate(bodies, 1)] if self.toc and self.titled else None
        return Made(packed(files, self.method), words.spoken, titles)

    def _package(self, links: Sequence[str]) -> str:
        items = [f'<item id="d{n}" href="{link}" media-type="{self.media_type}"/>' for n, link in enumerate(links, 1)]
        if self.toc in ("nav", "both"):
            items.append(f'<item id="nav" href="nav.xhtml" media-type="{XHTML}" properties="nav"/>')
        if self.toc in ("ncx", "both"):
            items.append('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>')
        refs = "".join(f'<itemref idref="d{n}"/>' for n, _ in enumerate(links, 1))
        toc = ' toc="ncx"' if self.toc in ("ncx", "both") else ""
        return _OPF.format(version=self.version, items="".join(items), refs=refs, toc=toc)


def packed(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2001, 1, 1, 0, 0, 0)), data, method)
    return stored.getvalue()


def replaced(name: str, old: str, new: str) -> Edit:
    def edit(files: Files) -> None:
        assert old.encode() in files[name], old
        files[name] = files[name].replace(old.encode(), new.encode())

    return edit


def added(**more: str | bytes) -> Edit:
    """An edit that adds files, whose names have `__` for `/` and `_dot_` for a dot."""

    def edit(files: Files) -> None:
        for name, data in more.items():
            files[name.replace("__", "/").replace("_dot_", ".")] = data.encode() if isinstance(data, str) else data

    return edit


def both(*edits: Edit) -> Edit:
    def edit(files: Files) -> None:
        for each in edits:
            each(files)

    return edit


OPF = "OEBPS/content.opf"
_EMPTY = page("<body> <p/></body>").encode()
_HUSHED = page("<body><p>zqhush</p></body>").encode()


def _manifest(more: str) -> Edit:
    return replaced(OPF, "</manifest>", f"{more}</manifest>")


def _declared(encoding: str, codec: str = "", mark: bytes = b"") -> Callable[[str], bytes]:
    return lambda text: (
        mark + text.replace('"utf-8"', f'"{encoding}"', 1).encode(codec or encoding, "xmlcharrefreplace")
    )


def _with_subset(subset: str) -> Callable[[str], bytes]:
    return lambda text: text.replace("<!DOCTYPE html>", f"<!DOCTYPE html [{subset}]>", 1).encode()


def _prefixed(files: Files) -> None:
    text = files[OPF].decode().replace("xmlns=", "xmlns:opf=").replace('/2007/opf" ', '/2007/opf" ')
    for tag in ("package", "metadata", "manifest", "spine", "item", "itemref"):
        text = (
            text.replace(f"<{tag} ", f"<opf:{tag} ")
            .replace(f"<{tag}>", f"<opf:{tag}>")
            .replace(f"</{tag}>", f"</opf:{tag}>")
        )
    files[OPF] = text.encode()


def _nested(files: Files) -> None:
    files["OEBPS/nav.xhtml"] = page(
        '<body><nav epub:type="landmarks"><ol><li><a href="c3.xhtml">zq</a></li></ol></nav>'
        '<nav epub:type="toc"><ol><li><span>Parts</span><ol><li><a href="c1.xhtml">Title 1</a>'
        '<ol><li><a href="c2.xhtml">Title 2</a></li></ol></li></ol></li><li>'
        '<a href="c3.xhtml">Title 3</a></li></ol></nav></body>'
    ).encode()


FONTS = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
    '<enc:EncryptedData><enc:EncryptionMethod Algorithm="{}"/><enc:CipherData>'
    '<enc:CipherReference URI="{}"/></enc:CipherData>'
    "</enc:EncryptedData></encryption>"
)
_OVERLAY = (
    '<item id="o" href="o.smil" media-type="application/smil+xml"/><item id="a" href="a.mp3" media-type="audio/mpeg"/>'
)
_GUIDE = (
    '<guide><reference type="copyright-page" title="" href="r.xhtml"/><reference type="text" href="c1.xhtml"/></guide>'
)
_RIGHTS = f'<item id="r" href="r.xhtml" media-type="{XHTML}"/>'
_FIXED = '<meta property="rendition:layout">pre-paginated</meta></metadata>'


def _first(more: str) -> Edit:
    return replaced(OPF, '<itemref idref="d1"/>', f'{more}<itemref idref="d1"/>')


def _fallback(files: Files) -> None:
    replaced(OPF, '<itemref idref="d1"/>', '<itemref idref="p"/>')(files)
    _manifest('<item id="p" href="p.pdf" media-type="application/pdf" fallback="d1"/>')(files)


PACKAGINGS: dict[str, Packaging] = {
    "EPUB 3": Packaging(),
    "EPUB 3 with both tables": Packaging("both"),
    "EPUB 2": Packaging("ncx", version="2.0"),
    "no table": Packaging(""),
    "an empty table": Packaging(
        "", edit=_manifest(f'<item id="nav" href="c1.xhtml" media-type="{XHTML}" properties="nav"/>')
    ),
    "a broken NCX": Packaging("ncx", edit=replaced("OEBPS/toc.ncx", "</navMap>", "<"), titled=False),
    "a missing NCX": Packaging("ncx", edit=lambda files: files.__delitem__("OEBPS/toc.ncx"), titled=False),
    "a broken nav alongside an NCX": Packaging("both", edit=lambda files: files.update({"OEBPS/nav.xhtml": b"<nav"})),
    "an NCX that the spine doesn't name": Packaging("ncx", edit=replaced(OPF, ' toc="ncx"', "")),
    "an NCX of another media type": Packaging("ncx", edit=replaced(OPF, "application/x-dtbncx+xml", "text/xml")),
    "tables that point into documents": Packaging("both", fragments=True),
    "tables that point at nothing there": Packaging(
        "both", edit=replaced("OEBPS/nav.xhtml", 'c1.xhtml"', 'c1.xhtml#gone"')
    ),
    "a nested table": Packaging(edit=_nested, titled=False),
    "a table in reverse": Packaging(
        edit=lambda files: files.update(
            {
                "OEBPS/nav.xhtml": files["OEBPS/nav.xhtml"]
                .replace(b"c1.", b"cX.")
                .replace(b"c3.", b"c1.")
                .replace(b"cX.", b"c3.")
            }
        ),
        titled=False,
    ),
    "tables with impossible links": Packaging(
        edit=replaced(
            "OEBPS/nav.xhtml", "<ol>", '<ol><li><a href="http://[x">zq</a></li><li><a href="%zz%">zq</a></li>'
        )
    ),
    "an NCX with an ampersand": Packaging(
        "ncx", edit=replaced("OEBPS/toc.ncx", "Title 1", "Title 1 & more&nbsp;"), titled=False
    ),
    "the table in the spine": Packaging(edit=_first('<itemref idref="nav"/>')),
    "the package at the root": Packaging(opf="content.opf"),
    "the package deep within": Packaging(opf="a/b/c d/content.opf"),
    "documents in a folder": Packaging(documents="text/part{}.html"),
    "documents above": Packaging(
        documents="../Text/c{}.xhtml",
        edit=lambda files: files.update({name.replace("OEBPS/../", ""): files.pop(name) for name in list(files)}),
    ),
    "documents far above": Packaging(links="../../../OEBPS/c{}.xhtml"),
    "absolute links": Packaging(links="/OEBPS/c{}.xhtml"),
    "links with dots": Packaging(links="./x/.././c{}.xhtml"),
    "links with escapes": Packaging(documents="a b & c{}.xhtml", links="a%20b%20%26%20c{}.xhtml"),
    "links with spaces": Packaging(documents="a b{}.xhtml"),
    "names with escapes": Packaging(documents="a%20b{}.xhtml"),
    "names in another case": Packaging(documents="C{}.XHTML", links="c{}.xhtml"),
    "names in Unicode": Packaging(documents="Kapitel-ü{}-第.xhtml"),
    "names decomposed": Packaging(documents=unicodedata.normalize("NFD", "ü{}.xhtml"), links="ü{}.xhtml"),
    "names with backslashes": Packaging(
        edit=lambda files: files.update(
            {name.replace("/", "\\"): files.pop(name) for name in list(files) if name.startswith("OEBPS/c")}
        )
    ),
    "names that begin with a slash": Packaging(
        edit=lambda files: files.update(
            {f"/{name}": files.pop(name) for name in list(files) if name.startswith("OEBPS/c")}
        )
    ),
    "names that leave the archive": Packaging(edit=added(**{"______etc__passwd": "x", "..__..__x": "x"})),
    "links with queries": Packaging(links="c{}.xhtml?x=1"),
    "HTML": Packaging(documents="c{}.html", media_type="text/html"),
    "documents of no media type": Packaging(media_type=""),
    "documents of OEB 1": Packaging(documents="c{}.xml", media_type="text/x-oeb1-document"),
    "documents named as XML": Packaging(documents="c{}.xml", media_type="application/xml"),
    "a media type with parameters": Packaging(documents="c{}", media_type="application/xhtml+xml; charset=utf-8"),
    "UTF-8 with a mark": Packaging(encode=lambda text: codecs.BOM_UTF8 + text.encode()),
    "UTF-16": Packaging(encode=_declared("utf-16")),
    "UTF-16 without a mark": Packaging(encode=_declared("utf-16", "utf-16-le")),
    "UTF-16 of the other order": Packaging(encode=_declared("utf-16", "utf-16-be")),
    "UTF-16 that is UTF-8": Packaging(encode=_declared("utf-16", "utf-8")),
    "Latin-1": Packaging(encode=_declared("iso-8859-1")),
    "Latin-1 that is Windows-1252": Packaging(encode=_declared("iso-8859-1", "cp1252")),
    "Windows-1252 undeclared": Packaging(encode=_declared("utf-8", "cp1252")),
    "Windows-1251": Packaging(encode=_declared("windows-1251")),
    "Shift-JIS": Packaging(encode=_declared("Shift_JIS")),
    "an unknown encoding": Packaging(encode=_declared("x-mine", "utf-8")),
    "an encoding that isn't text": Packaging(encode=_declared("unicode_escape", "utf-8")),
    "the package in UTF-16": Packaging(
        edit=lambda files: files.update({OPF: files[OPF].decode().replace("utf-8", "utf-16").encode("utf-16")})
    ),
    "the package in Shift-JIS": Packaging(
        edit=lambda files: files.update(
            {OPF: files[OPF].decode().replace("utf-8", "Shift_JIS").replace("Made", "日本").encode("shift_jis")}
        )
    ),
    "the package after empty lines": Packaging(edit=lambda files: files.update({OPF: b"\n\n " + files[OPF]})),
    "the package with a prefix": Packaging(edit=_prefixed),
    "the package without a namespace": Packaging(edit=replaced(OPF, 'xmlns="http://www.idpf.org/2007/opf" ', "")),
    "the package with an ampersand": Packaging(edit=replaced(OPF, ">Made<", ">Made & more&nbsp;<")),
    "a DTD of entities in documents": Packaging(
        encode=_with_subset('<!ENTITY a "zqa"><!ENTITY nbsp "&#160;"> <!-- ]> -->')
    ),
    "a billion laughs in documents": Packaging(
        encode=_with_subset('<!ENTITY a "zqzqzqzq"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">')
    ),
    "external entities in documents": Packaging(encode=_with_subset('<!ENTITY x SYSTEM "file:///etc/passwd">')),
    "entities in the NCX": Packaging(
        "ncx",
        edit=replaced(
            "OEBPS/toc.ncx",
            '"http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">',
            '"x" [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>',
        ),
        titled=False,
    ),
    "fonts that are garbled": Packaging(
        edit=added(
            **{"META-INF__encryption_dot_xml": FONTS.format("http://www.idpf.org/2008/embedding", "OEBPS/f.otf")}
        )
    ),
    "duplicate ids": Packaging(edit=_manifest(f'<item id="d1" href="c1.xhtml" media-type="{XHTML}"/>')),
    "documents twice in the spine": Packaging(edit=_first('<itemref idref="d1"/>')),
    "ids that nothing has": Packaging(edit=_first('<itemref idref="gone"/><itemref/>')),
    "notes outside the spine's line": Packaging(
        edit=both(added(OEBPS__r_dot_xhtml=_HUSHED), _manifest(_RIGHTS), _first('<itemref idref="r" linear="no"/>'))
    ),
    "a cover by the guide": Packaging(
        edit=both(
            added(OEBPS__r_dot_xhtml=_HUSHED),
            _manifest(_RIGHTS),
            _first('<itemref idref="r"/>'),
            replaced(OPF, "</package>", f"{_GUIDE}</package>"),
        )
    ),
    "an empty chapter": Packaging(
        edit=both(added(OEBPS__r_dot_xhtml=_EMPTY), _manifest(_RIGHTS), _first('<itemref idref="r"/>'))
    ),
    "an empty file": Packaging(
        edit=both(added(OEBPS__r_dot_xhtml=b""), _manifest(_RIGHTS), _first('<itemref idref="r"/>'))
    ),
    "a picture in the spine": Packaging(
        edit=both(
            added(OEBPS__r_dot_svg="<svg><text>zq</text></svg>"),
            _manifest('<item id="r" href="r.svg" media-type="image/svg+xml"/>'),
            _first('<itemref idref="r"/>'),
        )
    ),
    "a fallback": Packaging(edit=_fallback),
    "several rootfiles": Packaging(
        edit=replaced(
            "META-INF/container.xml",
            "<rootfiles>",
            '<rootfiles><rootfile full-path="x.pdf" media-type="application/pdf"/>',
        )
    ),
    "fixed layout": Packaging(edit=replaced(OPF, "</metadata>", _FIXED)),
    "from right to left": Packaging(edit=replaced(OPF, "<spine", '<spine page-progression-direction="rtl"')),
    "media overlays": Packaging(
        edit=both(
            added(OEBPS__o_dot_smil="<smil><body/></smil>", OEBPS__a_dot_mp3=b"ID3"),
            _manifest(_OVERLAY),
            replaced(OPF, 'id="d1"', 'id="d1" media-overlay="o"'),
        )
    ),
    "no mimetype": Packaging(edit=lambda files: files.__delitem__("mimetype")),
    "a wrong mimetype": Packaging(edit=added(mimetype="application/zip\r\n")),
    "stored": Packaging(method=zipfile.ZIP_STORED),
    "bzip2": Packaging(method=zipfile.ZIP_BZIP2),
    "LZMA": Packaging(method=zipfile.ZIP_LZMA),
    "files of the system": Packaging(
        edit=added(**{"__MACOSX__._c1": b"\0\5\26\7", "META-INF__rights_dot_xml": "<x/>"})
    ),
}
"""Each way of packaging, by name."""
