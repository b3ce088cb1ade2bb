"""PDFs made for tests, by pypdf."""

import io
from collections.abc import Sequence

import pypdf
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


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
