"""What weekdays, months, units, currencies and large numbers are called in some sixty languages. Pure.

script/language-words takes the words from CLDR, which babel carries: reading it takes half a second and 60 MB.
"""

import json
from pathlib import Path

_WORDS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
# As they are compared.
WEEKDAYS = frozenset(_WORDS["weekdays"])
MONTHS = frozenset(_WORDS["months"])
# Without capitals. A word that is in the names of several currencies is one: dollar, rupee.
UNITS = frozenset(_WORDS["units"])
SCALES: dict[str, int] = _WORDS["scales"]
# By code, what is not capitalised in its English name.
CURRENCIES: dict[str, list[str]] = _WORDS["currencies"]
