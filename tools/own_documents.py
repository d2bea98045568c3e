"""Remake the documents in data/own_documents that no text editor writes: a Word file, two PDFs, a spreadsheet.

    python -m tools.own_documents [FOLDER]

The same script gives the same bytes: no file holds the time at which it was written.
"""

import io
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "data" / "own_documents"
FIXED = (2026, 9, 25, 0, 0, 0)  # the date of every member of a zip archive

Row = tuple[str, str, str]

# --- The price list, a Word file with tables ------------------------------------------------------------------------

PRICES: dict[str, tuple[str, tuple[Row, ...]]] = {
    "Probes": (
        "All probes come with a cable of one metre.",
        (
            ("HP-204", "pH probe, glass body", "189.00"),
            ("HP-240", "pH probe, for hot water up to 130 degrees", "346.00"),
            ("CP-110", "Conductivity probe, four electrodes", "412.00"),
            ("OX-75", "Dissolved oxygen probe, optical", "655.00"),
        ),
    ),
    "Meters": (
        "A meter is sold without probes.",
        (
            ("MX-40", "Hand-held meter, one channel", "498.00"),
            ("MX-60", "Bench meter, two channels", "1,120.00"),
            ("MX-90", "Panel meter, four channels", "1,890.00"),
        ),
    ),
    "Spares": (
        "Spares are sold in the quantity named.",
        (
            ("BT-9", "Rechargeable battery for the MX-40, one", "36.00"),
            ("ME-12", "Membranes, pack of ten", "74.00"),
            ("BF-7", "Buffer solution pH 7.00, one litre", "18.50"),
        ),
    ),
}
TERMS = {
    "Ordering": "Orders by noon leave the house on the same day. The smallest order is EUR 50.00.",
    "Carriage": "Carriage is EUR 9.50 within the country, and free from EUR 250.00.",
    "Returns": "Unused goods are taken back within 14 days. Membranes and solutions are not taken back once opened.",
}


def price_list() -> bytes:
    """Return the price list as a DOCX, with heading styles and a table under each group."""
    import docx

    document = docx.Document()
    document.core_properties.title = "Price list"
    document.add_heading("Price list, September 2026", level=1)
    document.add_paragraph("Prices in EUR without tax, valid until 31 December 2026.")
    for heading, (said, rows) in PRICES.items():
        document.add_heading(heading, level=2)
        document.add_paragraph(said)
        table = document.add_table(rows=0, cols=3)
        for row in (("Part", "What it is", "EUR"), *rows):
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    for heading, text in TERMS.items():
        document.add_heading(heading, level=2)
        document.add_paragraph(text)
    written = io.BytesIO()
    document.save(written)
    return with_fixed_dates(written.getvalue())


def with_fixed_dates(archive: bytes) -> bytes:
    """Return a zip archive with every member dated FIXED."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, FIXED), old.read(name), zipfile.ZIP_DEFLATED)
    return written.getvalue()


# --- The guide, a PDF with bookmarks --------------------------------------------------------------------------------

GUIDE: tuple[tuple[tuple[str, Sequence[str]], ...], ...] = (
    (
        (
            "Putting the meter into service",
            (
                "Charge the MX-40 for four hours before it is used for the first time.",
                "Screw the probe on by hand. Hold the key ON for two seconds.",
            ),
        ),
        (
            "Calibrating",
            (
                "Calibrate a pH probe once a week, and after every change of membrane.",
                "Rinse it, put it into the solution pH 7.00, and wait until the display is steady.",
                "Press CAL. Repeat with pH 4.00. The slope must lie between 92 and 102 percent.",
            ),
        ),
        (
            "Measuring",
            (
                "Stir gently. A reading is steady when the sign on the left stops blinking.",
                "Below 5 degrees a reading takes up to three minutes.",
            ),
        ),
        (
            "Storing and cleaning",
            (
                "A probe that dries out is lost: keep it in its cap, with a few drops of storage solution.",
                "Wipe the housing with a damp cloth. Never use spirit on the window.",
            ),
        ),
    ),
    (
        (
            "Messages on the display",
            (
                "E-11   The battery is low. Charge the meter.",
                "E-17   The slope is out of range. Clean the probe and calibrate again.",
                "E-71   The membrane is torn. Change it.",
                "E-40   The memory is full. Send the readings to a computer.",
                "E-90   A fault inside. Send the meter to the works.",
                "E-91   The clock has stopped. Send the meter to the works.",
            ),
        ),
        (
            "Sending it in",
            (
                "Enclose the form of the last page. The works in Lyon answer within eight working days.",
                "Within the guarantee of 24 months a repair costs nothing.",
            ),
        ),
        (
            "Technical data",
            (
                "Range 0 to 14 pH, resolution 0.01. Waterproof to one metre for 30 minutes (IP67).",
                "Battery BT-9, 2,400 mAh, about 120 hours of use.",
            ),
        ),
    ),
)
WIDTH, HEIGHT = 595.0, 842.0  # points of an A4 page
TOP, LEFT, LINE = 780.0, 70.0, 16.0


def guide() -> bytes:
    """Return the guide of two pages as a PDF, with a bookmark for each heading that points to its line."""
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import Fit

    writer = PdfWriter()
    for number, page in enumerate(GUIDE):
        writer.append(PdfReader(io.BytesIO(drawn(list(lines_of(page))))))
        for y, text, is_heading in lines_of(page):
            if is_heading:
                writer.add_outline_item(title=text, page_number=number, fit=Fit.xyz(left=0, top=y + LINE))
    writer.add_metadata({"/Title": "MX-40 guide"})
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


Line = tuple[float, str, bool]  # how far above the page's foot, the text, whether it is a heading


def lines_of(page: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Line]:
    """Give the lines of a page from its top: a heading, its lines, a gap."""
    y = TOP
    for heading, lines in page:
        yield y, heading, True
        for line in lines:
            y -= LINE
            yield y, line, False
        y -= 2.5 * LINE


def drawn(lines: Sequence[Line], as_picture: bool = False) -> bytes:
    """Return a PDF of one page with these lines, as text or as a picture of them, which is what a scanner makes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    canvas: Any
    with mpl.rc_context({"pdf.fonttype": 42}):
        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), dpi=60)
        canvas = FigureCanvasAgg(figure)
        for y, text, is_heading in lines:
            figure.text(LEFT / WIDTH, y / HEIGHT, text, fontsize=13 if is_heading else 10)
        if as_picture:
            canvas.draw()
            pixels = canvas.buffer_rgba()
            figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), dpi=60)
            figure.figimage(pixels)
        written = io.BytesIO()
        canvas = FigureCanvasPdf(figure)
        canvas.print_pdf(written, metadata={"CreationDate": None})
    return written.getvalue()


# --- Two that cannot be read ----------------------------------------------------------------------------------------

PARKING = (
    (
        "Parking",
        (
            "Staff park behind hall 3. The barrier opens with the badge.",
            "Visitors ring at the gate. Charging points are free of charge.",
        ),
    ),
)


def scan() -> bytes:
    """Return a page as a scanner makes it: a picture of words, and no words."""
    return drawn(list(lines_of(PARKING)), as_picture=True)


def spreadsheet() -> bytes:
    """Return a workbook of one sheet; the course has no reader for it."""
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
        '<c r="A1" t="inlineStr"><is><t>Kilometres</t></is></c><c r="B1"><v>1240</v></c></row></sheetData></worksheet>'
    )
    book = (
        '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
        '<sheet name="2025" sheetId="1" r:id="r1"/></sheets></workbook>'
    )
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    main = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    members = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/book.xml" ContentType="{main}.sheet.main+xml"/>'
        f'<Override PartName="/sheet.xml" ContentType="{main}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}">'
        f'<Relationship Id="r1" Type="{kinds}/officeDocument" Target="book.xml"/></Relationships>',
        "book.xml": book,
        "_rels/book.xml.rels": f'<Relationships xmlns="{relations}">'
        f'<Relationship Id="r1" Type="{kinds}/worksheet" Target="sheet.xml"/></Relationships>',
        "sheet.xml": sheet,
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, FIXED), f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return written.getvalue()


FILES = {
    "price_list.docx": price_list,
    "meter_guide.pdf": guide,
    "parking_scan.pdf": scan,
    "kilometres_2025.xlsx": spreadsheet,
}


def main(folder: Path = FOLDER) -> None:
    """Write the files into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in FILES.items():
        (folder / name).write_bytes(make())
        print(f"{name}: {(folder / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
