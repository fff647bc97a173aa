"""What distinguishes headlines in the parts before and after the longest one, and in signs and numbers."""

import re

# One word before a separator that names the kind of article, not its story: the prefixes of dup.py of
# mediacloud/backend (2018). If the rest has 32 characters, longer ones of _KINDS are dropped too.
KICKER = re.compile(
    "analysis|ap|breaking|cartoon|cnn|commentary|editorial|exclusive|experts|feature|gallup|letters|nyt|op ed|opinion|"
    "perspective|photos|poll|read|reports?|revealed|review|sources?|study|subject|survey|timeline|today|video|wapo|"
    "watch|wsj"
)
_KINDS = (
    r"(?:(?:just|breaking|latest|live|top) )?(?:in|news|updated?s?|story|stories)(?: \d{1,2})?"
    r"|(?:watch |read )?live(?: blog| updates?|blog|ticker)?|wrapup(?: \d)?|refile|rpt|corrected|correction"
    "|recap|explainer|explained|fact check|factbox|factsheet|interview|in (?:pictures|photos|bildern|kürze)|pictures"
    "|gallery|photo|podcast|listen|audio|columns?|blogs?|comment|essay|features|obituary|long reads?|newsletter"
    "|press release|media (?:advisory|release|statement|alert|invitation)|news release|statement|icymi"
    "|in case you missed it|what they are saying|reminder|friendly reminder|alert|urgent|flash|must read"
    "|eilmeldung|aktuell|kommentar|analyse|hintergrund|reportage|porträt|video|fotos?|bilder|liveticker|ticker"
    "|meinung|exklusiv|medienmitteilung|pressemitteilung|ratgeber|glosse|leitartikel|direct|en direct"
    "|en images|vid[eé]os?|entretien|tribune|communiqu[eé](?: de presse)?|exclusif|info|alerte|rappel"
    "|invitation aux m[eé]dias|invitation au point de presse|d[eé]cryptage|portrait|en vivo|en directo"
    "|v[ií]deos?|fotos|an[aá]lisis|opini[oó]n|entrevista|exclusiva|[uú]ltima hora|urgente|reportaje|ao vivo"
    "|an[aá]lise|opini[aã]o|exclusivo|diretta|esclusiva|analisi|editoriale|intervista|foto|видео|фото|интервью"
    "|анализ|мнение|срочно|эксклюзив|son dakika|canlı|özel|foto galeri"
)
_SECTIONS = (
    "world|politics|sports?|business|economy|finance|markets?|culture|arts?|local|regional|national"
    "|international|health|tech|technology|science|entertainment|lifestyle|travel|education|environment"
    "|weather|crime|society|home|foreign|us|uk|eu|europe|asia|africa|football|cricket|rugby|soccer|money|media"
    "|law|music|film|movies|books|food|style|politik|wirtschaft|kultur|ausland|inland|panorama|gesellschaft"
    "|wissen|wissenschaft|regionales?|lokales|gesundheit|digital|reisen?|fussball|fußball|bildung|umwelt"
    "|medien|netzwelt|finanzen|feuilleton|welt|politique|[eé]conomie|monde|soci[eé]t[eé]|r[eé]gions?|sant[eé]"
    "|sciences?|faits divers|m[eé]t[eé]o|environnement|pol[ií]tica|econom[ií]a|deportes|mundo|sociedad|cultura"
    "|salud|ciencia|tecnolog[ií]a|sucesos|internacional|nacional|economia|esporte|sa[uú]de|cotidiano|esteri"
    "|cronaca|sport|politiek|economie|buitenland|binnenland|cultuur|политика|экономика|общество|спорт|мир"
    "|культура|наука|siyaset|ekonomi|spor|dünya|gündem"
)
_WITHOUT_STORY = re.compile(f"{_KINDS}|{_SECTIONS}")

_MOST_WORDS_OF_A_TOPIC = 2
_NUMBER = re.compile(r"\d")
# A station with its channel: WDRB 41.
_STATION = re.compile(r"(?:live \d{1,2} news|(?:abc|cbs|fox|nbc|[kw][a-z]{2,3}) ?\d{1,2}(?: news)?)")
_ROMAN_NUMBER = r"(?=[ivx])x{0,3}(?:ix|iv|v?i{0,3})"
_ROMAN = re.compile(rf"(?:.* )?{_ROMAN_NUMBER}")
_NUMBERED = (
    "part|pt|teil|folge|kapitel|partie|volet|[eé]pisode|parte|cap[ií]tulo|episodio|puntata|deel|aflevering|del|avsnitt"
    "|osa|rész|cz[eę][sś][cć]|d[ií]l|часть|серия|частина|bölüm|chapter|episode|volume|vol|book|act|round|phase|stage"
)
_WORDS = dict(
    zip(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), range(1, 11), strict=True)
)
# Part II, PART TWO, Part 2.
_NUMBERED_PART = re.compile(
    rf"\b(?P<kind>{_NUMBERED})\b(?P<gap>[.\s:#]+)(?:(?P<roman>{_ROMAN_NUMBER})|(?P<word>{'|'.join(_WORDS)})|\d+)\b"
    r"(?![.'’]\w)",
    re.IGNORECASE,
)
_DIGITS = {"i": 1, "v": 5, "x": 10}

_PLUS = re.compile(r"(?<![\w+%)\]])[+＋]\s?(?=[.,]?\d)")
# A hyphen or dash is a minus before an amount, not between two numbers; the true minus always is one.
_AMOUNT = (
    r"[\d.,]+\s?(?:[%‰°٪％]|(?:percent|per cent|pct|prozent|pour cent|por ciento|per cento|procent|grad|degrees?"
    r"|points?|bps?)\b)"
)
_MINUS = re.compile(rf"(?<![\w%)\]])(?<!\d\s)(?:−\s?(?=[.,]?\d)|[-‐‑–－](?={_AMOUNT}|\d+[.,]\d))", re.IGNORECASE)
_PLUS_OR_MINUS = re.compile(r"±\s?(?=\d)|(?<!\w)\+/[-−–]\s?(?=\d)")
# A+, BBB-: grades of schools and of debtors.
_GRADE = re.compile(r"(?<![\w+-])(?P<grade>[A-D]{1,3})(?P<sign>[+＋]|[-−–](?![\w-]))(?=[\s,.;:!?)\]'’\"”]|\Z)")
_ANY_SIGN = re.compile("[+＋±−‐‑–－-]")


def is_without_story(part: str, *, last: bool) -> bool:
    """Return whether a normalised part of a headline names no story of its own; `last` if it comes after the longest.

    After the longest part only a number does: Part 2. Before it, one or two words do that are no section and no kind of
    article, as in "Asylum: statistics of …"; longer ones often are what one of two copies lacks.
    """
    if KICKER.fullmatch(part) or _WITHOUT_STORY.fullmatch(part) or _STATION.fullmatch(part):
        return True
    if last:
        return not _is_number(part)
    return len(part.split()) > _MOST_WORDS_OF_A_TOPIC and not _NUMBERED_PART.search(part)


def with_signs(text: str) -> str:
    """Return a headline with the signs of numbers and grades as words, because punctuation is dropped."""
    if not _ANY_SIGN.search(text):
        return text
    text = _PLUS_OR_MINUS.sub(" plus minus ", text)
    text = _GRADE.sub(lambda found: f"{found['grade']} {'plus' if found['sign'] in '+＋' else 'minus'}", text)
    return _MINUS.sub(" minus ", _PLUS.sub(" plus ", text))


def with_numbered_parts(text: str) -> str:
    """Return a headline with the numbers of parts in digits: Part II and Part Two become Part 2."""
    return _NUMBERED_PART.sub(_with_digits, text)


def _is_number(part: str) -> bool:
    return _NUMBER.search(part) is not None or _ROMAN.fullmatch(part) is not None


def _with_digits(found: re.Match[str]) -> str:
    roman, word = found["roman"], found["word"]
    if not roman and not word:
        return found[0]
    number = _roman(roman) if roman else _WORDS[word.lower()]
    return f"{found['kind']}{found['gap']}{number}"


def _roman(letters: str) -> int:
    values = [_DIGITS[letter] for letter in letters.lower()]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))
