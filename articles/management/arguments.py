"""What commands are asked for, as it is used."""

from datetime import date


def day(text: str) -> date:
    """Return the day; for argparse."""
    return date.fromisoformat(text)


day.__name__ = "day (YYYY-MM-DD)"  # argparse names it in its message
