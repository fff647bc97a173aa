"""Write what CLDR calls weekdays, months, units, currencies and large numbers, for the full comparison."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from babel import Locale
from babel.numbers import get_currency_name

from dedup.detection.comparison.lexicon import typography, words_in

FILE = Path(__file__).parents[2] / "dedup/detection/comparison/language_words.json"
LANGUAGES = (
    "en fr de es it pt nl sv da nb fi pl cs sk hu ro bg hr sr sl uk ru tr el ar fa he hi bn ta te ml si ur id ms vi "
    "ko sw ca eu gl lt lv et is ga ka hy az kk uz mn ne mr gu kn pa am so zu af"
)


def words() -> dict[str, object]:
    """Return all words, each list in the order of the alphabet."""
    weekdays: set[str] = set()
    months: set[str] = set()
    units: set[str] = set()
    # What newspapers write, and CLDR does not.
    scales = {"mn": 10**6, "bn": 10**9, "tn": 10**12}
    for locale in map(Locale, LANGUAGES.split()):
        for context in ("format", "stand-alone"):
            weekdays |= single_words(locale.days[context]["wide"].values())
            months |= single_words(locale.months[context]["wide"].values())
            months |= single_words(locale.months[context]["abbreviated"].values())
        names = [name for forms in locale.unit_display_names.values() for name in forms.values()]
        counts = Counter(word for name in locale.currencies.values() for word in name.split())
        # A word in the names of several currencies, or a name of one word, is a currency: dollar, rupee, euro.
        units |= {word.casefold() for word, count in counts.items() if count > 1 and word.isalpha()}
        units |= {name.casefold() for name in [*names, *locale.currencies.values()] if name.isalpha()}
        for forms in locale.compact_decimal_formats.get("long", {}).values():
            for size, pattern in forms.items():
                zeros, _, word = str(pattern.pattern).partition(" ")
                if word.isalpha() and set(zeros) == {"0"}:
                    scales.setdefault(word.casefold(), int(size) // 10 ** (len(zeros) - 1))
    codes = map(str, Locale("en").currencies)
    english = {code: get_currency_name(code, 2, "en").split() for code in codes}
    return {
        "weekdays": sorted(weekdays),
        "months": sorted(months),
        "units": sorted(units),
        "scales": dict(sorted(scales.items())),
        "currencies": {code: [word for word in name if word.islower()] for code, name in sorted(english.items())},
    }


def single_words(names: Iterable[str]) -> set[str]:
    """Return the names that are one word of two letters or more."""
    found = map(words_in, map(typography, names))
    return {parts[0].casefold() for parts in found if len(parts) == 1 and len(parts[0]) > 1}


def written() -> str:
    """Return the file."""
    return json.dumps(words(), ensure_ascii=False, indent=None, separators=(",", ":")).replace('],"', '],\n"') + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
