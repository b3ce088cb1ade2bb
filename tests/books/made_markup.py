"""Bodies of documents with the habits of many makers, and the words of each that are to be spoken."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import pypdf
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstv" for vowel in "aeiou"]


@dataclass
class Words:
    """Gives out words that occur once in a book, and notes those that are to be spoken."""

    spoken: list[str] = field(default_factory=list)
    _count: int = 0

    def _next(self) -> str:
        self._count += 1
        number, word = self._count + len(_SYLLABLES) ** 2, ""
        while number:
            number, digit = divmod(number, len(_SYLLABLES))
            word += _SYLLABLES[digit]
        return word

    def say(self, count: int = 3) -> str:
        words = [self._next() for _ in range(count)]
        self.spoken += words
        return " ".join(words)

    def one(self) -> str:
        return self.say(1)

    def hush(self, count: int = 2) -> str:
        """Words that must not be spoken."""
        return " ".join("zq" + self._next() for _ in range(count))


Habit = Callable[[Words], str]


def _template(markup: str) -> Habit:
    """A habit from markup: `@` is three words to be spoken, `~` two that must not be, `^` one word to be spoken."""

    def body(words: Words) -> str:
        made = {"@": words.say, "~": words.hush, "^": words.one}
        return "".join(made[letter]() if letter in made else letter for letter in markup)

    return body


def _scripts(words: Words) -> str:
    made = ["bé", "dü", "жук", "日本", "שלום", "سلام"]
    words.spoken += made
    return f"“{' '.join(made)}”—"


def _deep(tag: str, depth: int) -> Habit:
    def body(words: Words) -> str:
        inner = f"<p>{words.say()}</p><script>{words.hush()}</script><p>{words.say()}</p>"
        return f"<{tag}>" * depth + inner + f"</{tag}>" * depth + f"<p>{words.say()}</p>"

    return body


def _unclosed(tag: str, count: int) -> Habit:
    def body(words: Words) -> str:
        items = "".join(f"<{tag}>{words.say(2)}\n" for _ in range(count))
        return f"{items}<script>{words.hush()}</script><h2>{words.say()}</h2><p>{words.say()}"

    return body


def _long(count: int) -> Habit:
    return lambda words: f"<p>{words.say(count)}</p>"


_MARKUP = {
    "plain": "<h1>@</h1><p>@</p><p>@ @</p>",
    "no headings": "<p>@</p><p>@</p>",
    "divs for paragraphs": "<div>@</div><div>@<div>@</div>@</div>",
    "breaks for paragraphs": "@<br/><br/>@<br>@",
    "bare text": "@ <b>@</b> @",
    "spans within words": "<p>@ <span>@</span><i> @</i> <b><i><u>@</u></i></b></p>",
    "entities": "<p>@&nbsp;@&mdash;@&hellip;&#8217;&#x2019; @ &amp; @</p>",
    "unknown entities": "<p>@ & @ && @</p>",
    "CDATA": "<p><![CDATA[@]]> @</p><style><![CDATA[~]]></style><script>//<![CDATA[\n~ </p> //]]></script><p>@</p>",
    "comments": "<p>@<!-- ~ --> @</p><!-- <p>~</p> --><p>@</p>",
    "conditional comments": "<p>@<![if !supportEmptyParas]> @<![endif]></p><!--[if gte mso 9]><p>~</p>"
    "<![endif]--><p>@</p>",
    "strange marked sections": "<p>@</p><![foo[~]]><p>@</p><![ x<p>@</p>",
    "a comment without end": "<p>@</p><p>@</p><!-- ",
    "processing instructions": '<p>@<?dp n="7012" folio="7012" ?> @</p><?xml-stylesheet href="x"?><p>@</p>',
    "scripts and styles": "<script>~</script><style>p {~}</style><p>@</p><script src='x.js'/><p>@</p>"
    "<noscript>~</noscript>",
    "script without end": "<p>@</p><script>~",
    "hidden text": '<p>@ <span style="display: none">~</span>@</p><p hidden="hidden">~</p><p aria-hidden="true">~</p>',
    "forms": "<p>@</p><form><p>~</p><button>~</button></form><select><option>~</option></select><p>@</p>",
    "tables": "<table><caption>@</caption><tr><th>@</th><td>@</td></tr><tr><td>@<td>@</table><p>@</p>",
    "ruby": "<p>@ <ruby>^<rp>(</rp><rt>~</rt><rp>)</rp></ruby> @ <ruby><rb>^</rb><rtc><rt>~</rt></rtc></ruby></p>",
    "MathML": '<p>@ <math xmlns="m"><mi>~</mi><annotation>~</annotation></math> @</p>',
    "SVG with titles": "<svg><title>~</title><desc>~</desc><text>~</text></svg><p>@</p>",
    "pictures": '<p>@</p><img src="a.png" alt="~"/><figure><img src="b.png"/><figcaption>~'
    "</figcaption></figure><p>@</p>",
    "soft hyphens": "<p>@</p><p>@\u200b &shy;@</p>",
    "drop caps": '<p><span class="dropcap"></span>@</p><p class="first">@</p>',
    "lists": "<ul><li>@</li><li><p>@</p><ul><li>@</li></ul></li></ul><ol><li>@<li>@</ol><dl><dt>@<dd>@</dl>",
    "verse": '<div class="poem"><div class="stanza"><span>@</span><br/><span>@</span></div></div>',
    "quotations": "<blockquote><p>@</p></blockquote><blockquote>@</blockquote><p>@</p>",
    "scene breaks": "<p>@</p><p>* * *</p><p>@</p><hr/><p>@</p><p>***</p><p>&#8258;</p>",
    "preformatted": "<pre>@\n   @\n</pre><p>@</p>",
    "empty elements": '<p/><p></p><div/><a id="x"/><span/><p>@<b/> @<i/></p><title/><p>@</p>',
    "sections of EPUB 3": '<section epub:type="chapter" role="doc-chapter"><header><h1>@</h1></header><p>@'
    "</p></section>",
    "asides that are text": '<aside class="sidebar"><p>@</p></aside><p>@</p><aside epub:type="tip">@</aside>',
    "text in capitals": "<H1>@</H1><P>@<BR>@</P><DIV CLASS=x>@</DIV>",
    "attributes of all kinds": "<p class=a id=\"x>y\" title='~' data-x=1>@</p><p lang=en xml:lang='en'>@</p>",
    "crossed elements": "<p><b>@ <i>@</b> @</i></p><p>@</p></div></section><p>@</p>",
    "tags without end": "<p>@</p><p>@ <b",
    "stray brackets": "<p>@ < @ > @ <- @</p>",
    "switch": "<epub:switch><epub:case required-namespace='m'><p>~</p></epub:case><epub:default><p>@</p></epub:default>"
    "</epub:switch><p>@</p>",
    "own navigation": '<nav epub:type="toc"><ol><li>~</li></ol></nav><h1>@</h1><p>@</p>',
    "objects": "<object data='x'><p>~</p></object><audio controls='controls'>~</audio><video>~"
    "</video><iframe>~</iframe><p>@</p>",
    "chapters that break pages": '<h1 class="pagebreak">@</h1><div class="page-break-before"><p>@</p></div><p>@</p>',
    "pages of a fixed layout": '<div style="position:absolute;left:3px"><span>@ </span><span>@</span></div><p>@</p>',
    "changes": "<p>@ <ins>@</ins> @</p><p><small>@</small> <big>@</big> <tt>@</tt></p>",
    "custom elements": "<o:p></o:p><x-part><x-line>@</x-line></x-part> <st1:place>@</st1:place><p>@</p>",
}
_NOTES = {
    "notes of EPUB 3": '<p>@<a epub:type="noteref" href="#n1">7001</a> @</p>'
    '<aside epub:type="footnote" id="n1">~</aside>',
    "notes by role": '<p>@<a role="doc-noteref" href="#n1">7001</a> @</p>'
    '<div role="doc-footnote" id="n1"><p>~</p></div>',
    "notes at the end": '<p>@<sup><a href="#e">71</a></sup> @</p>'
    '<section epub:type="endnotes rearnotes"><h2>~</h2><p>~</p>'
    "</section>",
    "notes of pandoc": '<p>@<a href="#fn1" class="footnote-ref" id="r" role="doc-noteref"><sup>71</sup></a> @</p>'
    '<section class="footnotes footnotes-end-of-document" role="doc-endnotes"><hr/><ol><li>~</li></ol></section>',
    "notes of old": '<p>@<a name="FNanchor_1_1"></a><a href="#Footnote_1_1" class="fnanchor">[71]</a> @</p>'
    '<div class="footnote"><p><a href="#FNanchor_1_1"><span class="label">[71]</span></a> ~</p></div><p>@</p>',
    "notes of Word": '<p>@<a href="#_ftn1" name="_ftnref1"><span class="MsoFootnoteReference">[71]</span></a> @</p>'
    '<div id="ftn1"><p class="MsoFootnoteText">~</p></div>',
    "notes of InDesign": '<p>@<span class="CharOverride-2">'
    '<a class="_idFootnoteLink _idGenColorInherit" href="c.xhtml#f">71'
    '</a></span> @</p><div class="_idFootnotes"><div class="_idFootnote"><p>~</p></div></div>',
    "notes raised by stars": '<p>@<sup><a href="#n">*</a></sup> @<a href="#m"><sup>†</sup></a> @</p>',
    "page breaks of EPUB 3": '<p>@<span epub:type="pagebreak" id="p7012" title="7012"/> @</p>'
    '<div epub:type="pagebreak">7013</div><p>@</p>',
    "page breaks by role": '<p>@ <span role="doc-pagebreak" aria-label="7012">7012</span>@</p>',
    "page numbers by class": '<p>@ <span class="pagenum">[Pg 7012]</span>@</p><div class="pageno">7013</div><p>@</p>',
    "page breaks with numbers": '<p>@</p><div class="pagebreak">7012</div><p class="page-break"><a id="x">xii'
    "</a></p><p>@</p>",
    "running heads": '<p class="running-head">~</p><p>@</p><div class="runninghead">~</div><p>@</p>',
    "DTBook": "<level1><h1>@</h1><pagenum>7012</pagenum><p>@<noteref idref='n'>71</noteref>"
    "</p><note id='n'><p>~</p></note>"
    "<prodnote>~</prodnote></level1>",
}
HABITS: dict[str, Habit] = {name: _template(markup) for name, markup in (_MARKUP | _NOTES).items()} | {
    "letters of many scripts": lambda words: f"<p>{words.one()} {_scripts(words)} {words.one()}</p>",
    "a letter as a picture": lambda words: (
        f'<p><img alt="{(word := words.one())[0]}" src="t.png"/>{word[1:]} {words.say()}</p>'
    ),
    "a letter set apart": lambda words: (
        f'<p><span class="cap">{(word := words.one())[0]}</span>{word[1:]} {words.say()}</p>'
    ),
    "a page break within a word": lambda words: (
        f'<p>{(word := words.one())[:2]}<span epub:type="pagebreak">7012</span>{word[2:]} {words.say()}</p>'
    ),
    "soft hyphens within words": lambda words: f"<p>{'&shy;'.join(words.one())} {words.say()}</p>",
    "a thousand elements deep": _deep("div", 1_000),
    "a thousand spans deep": _deep("span", 1_000),
    "paragraphs without end": _unclosed("p", 600),
    "items without end": _unclosed("li", 600),
    "cells without end": _unclosed("td", 600),
    "fonts without end": _unclosed("font", 600),
    "one long paragraph": _long(20_000),
    "a row of dashes": lambda words: f"<p>{words.say()}</p><p>{'-' * 20_000} {words.one()}</p>",
    "much space": lambda words: (
        f"<p>{words.say()}{'&nbsp;' * 20_000}{words.one()}</p><pre>{' ' * 50_000}{words.one()}</pre>"
    ),
}
"""Each habit of the markup of one document's body, by name."""


def made_pdf(pages: Sequence[Sequence[str]], outline: Sequence[str]) -> bytes:
    """A PDF with those lines on its pages, and an outline entry for each of the first pages."""
    writer = pypdf.PdfWriter()
    writer.add_metadata({"/Title": "Made", "/Author": "Ada"})
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for lines in pages:
        page = writer.add_blank_page(612, 792)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        content = DecodedStreamObject()
        shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
        content.set_data(f"BT /F1 12 Tf 72 720 Td {shown} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
    for number, title in enumerate(outline):
        writer.add_outline_item(title, number)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="{}" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def page(body: str, title: str = "") -> str:
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
