"""Whole numbers in addresses, forms and files, which can be higher than Python reads or PostgreSQL stores; in words."""

# PostgreSQL's bigint, the type of every row's number (postgresql.org/docs/current/datatype-numeric.html).
MAX_NUMBER = 2**63 - 1
_MAX_DIGITS = len(str(MAX_NUMBER))


def is_number(text: str) -> bool:
    """Return whether this is a whole number in ASCII digits, however high."""
    return text.isascii() and text.isdigit()


def read_number(text: str, *, least: int = 0, most: int = MAX_NUMBER) -> int | None:
    """Return the whole number from `least` to `most` that the text is; None for any other text.

    Python itself raises ValueError for more than 4,300 digits (docs.python.org, sys.set_int_max_str_digits).
    """
    digits = text.lstrip("0") or "0"
    if not is_number(text) or len(digits) > _MAX_DIGITS:
        return None
    number = int(digits)
    return number if least <= number <= most else None


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, of which the plural ends in s: 1 pair, 1,234 pairs."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
