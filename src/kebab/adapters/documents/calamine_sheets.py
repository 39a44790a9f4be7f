"""Spreadsheets through calamine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from io import BytesIO
from struct import Struct

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

from kebab.ports import Sheet, Unopened

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_OLD_HEAD = Struct("<30xH12xI16xI4xI")
"""Size of a sector as a power of two; sectors of the three tables that say which sectors belong together."""
_DAMAGED = Unopened("damaged, or no spreadsheet")


class CalamineSheetReader:
    def sheets(self, content: bytes) -> Iterator[Sheet | Unopened]:
        if _overstates(content):
            yield _DAMAGED
            return
        try:
            book = CalamineWorkbook.from_filelike(BytesIO(content))
        except PasswordError:
            yield Unopened("encrypted: it opens with a password only; save a copy without one")
            return
        except (CalamineError, OSError, ValueError):
            yield _DAMAGED
            return
        except BaseException as error:
            if not _is_panic(error):
                raise
            yield _DAMAGED
            return
        for about in book.sheets_metadata:
            if about.typ is SheetTypeEnum.WorkSheet:
                yield from _sheet(book, about.name)


def _sheet(book: CalamineWorkbook, name: str) -> Iterator[Sheet]:
    try:
        sheet = book.get_sheet_by_name(name)
    except (CalamineError, ValueError):
        return
    except BaseException as error:
        if not _is_panic(error):
            raise
        return
    row, column = sheet.start or (0, 0)
    rows = [[_shown(cell) for cell in found] for found in sheet.to_python(skip_empty_area=True)]
    if rows:
        yield Sheet(name, rows, row + 1, column + 1)


def _overstates(content: bytes) -> bool:
    """Whether the head of a file of Office 97 claims more sectors than the file has bytes for.

    The engine reserves what is claimed, and ends its process where that is gigabytes.
    """
    if not content.startswith(_OLD_OFFICE) or len(content) < _OLD_HEAD.size:
        return False
    shift, tables, small_tables, more_tables = _OLD_HEAD.unpack_from(content)
    claimed: int = max(tables, small_tables, more_tables) << min(shift, 16)
    return claimed > len(content) + (1 << 16)


def _is_panic(error: BaseException) -> bool:
    """A panic of the engine is no Exception in Python, and has no type that can be imported."""
    return type(error).__name__ == "PanicException"


def _shown(value: object) -> str:
    """A cell as a sheet shows it: no fraction of whole numbers, no time of midnight."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return f"{value:.15g}"
        case datetime():
            return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
        case date() | time() | timedelta():
            return str(value)
        case _:
            return " ".join(str(value).split())
