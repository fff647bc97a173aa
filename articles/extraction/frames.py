"""Finds the element that frames the article by where the page's prose is, and collects its paragraphs. Pure.

Many pages put each paragraph, or every few of them, in a wrapper of its own, between pictures and boxes. What such
wrappers have in common is their frame alone.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from articles.extraction.html import BLOCKS, Element, Paragraph, elements_of, paragraphs, squeeze
from articles.extraction.relevance import UNSPACED
from articles.grouping import by_key

# Shorter blocks are labels, captions and teasers more often than prose.
MIN_PROSE_CHARACTERS = 50
# A frame may lose this share of the prose around it: boxes, notices, a teaser.
MIN_FRAME_SHARE = 0.85
# An element that the markup calls an article, or the main part, is believed if it has this share of the page's prose.
MIN_ARTICLE_SHARE = 0.4
MIN_ARTICLE_PROSE = 200
# A longer text under a heading that is a link is more than a teaser.
MAX_CARD_PROSE = 400
# How many elements around a paragraph are compared.
MAKE_DEPTH = 2
OTHER_BLOCK_WEIGHT = 0.3
_TEXT_TAGS = frozenset(
    {"p", "ul", "ol", "dl", "blockquote", "pre", "table", "h2", "h3", "h4", "a", "b", "em", "i", "span", "strong", "br"}
)
_CARD_TAGS = frozenset({"article", "div", "li", "section", "td"})
_UNSPACED = re.compile(f"[{UNSPACED}]")
_NUMBER = re.compile(r"\d+")
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def prose_characters(page: Element) -> dict[Element, int]:
    """Return for every element how many characters of prose are in it: blocks of text that are not links."""
    prose: dict[Element, int] = {}
    lines: dict[Element, tuple[int, int]] = {}  # the characters of its own line of text, and those of them in links
    for element in reversed(list(elements_of(page))):
        characters, linked, inside = _characters(element.text), 0, 0
        for child in element.iterchildren("*"):
            inside += prose[child]
            if child.tag not in BLOCKS:
                characters += lines[child][0]
                linked += lines[child][1]
            characters += _characters(child.tail)
        if element.tag == "a":
            linked, inside = characters, 0  # a card is a link to another page, whatever is in it
        elif inside < MAX_CARD_PROSE and _is_card(element, lines):
            inside = 0
        plain = characters - linked
        if element.tag in BLOCKS and plain >= MIN_PROSE_CHARACTERS and plain >= linked:
            inside += plain
        is_hidden = "hidden" in element.attrib or _HIDDEN.search(element.get("style", ""))
        prose[element], lines[element] = 0 if is_hidden else inside, (characters, linked)
    return prose


def find_frame(page: Element, prose: Mapping[Element, int], headlines: Collection[str]) -> Element:
    """Return the smallest element with nearly all of the article's prose."""
    frame = _declared_frame(page, prose, headlines)
    share = MIN_FRAME_SHARE * prose[frame]
    while (child := next((child for child in frame.iterchildren("*") if prose[child] >= share > 0), None)) is not None:
        frame = child
    return frame


def collect_paragraphs(frame: Element, prose: Mapping[Element, int]) -> list[Paragraph]:
    """Return the frame's paragraphs from the first to the last of the commonest make, without other articles in it.

    Paragraphs are of one make if they and the elements around them have the same tags and classes.
    """
    cards = {link for link in frame.iter("a") if any(element.tag in BLOCKS for element in link.iterdescendants("*"))}
    others = {article for article in frame.iter("article") if article is not frame}
    if sum(prose[other] for other in others) > prose[frame] / 2:
        others = set()
    prose_blocks = [
        element
        for element in elements_of(frame)
        if prose[element] > sum(prose[child] for child in element.iterchildren("*"))  # its own line is prose
    ]
    blocks = _commonest(prose_blocks, prose)
    if not blocks:
        return []
    outside = {*_outside(blocks[0], frame, preceding=True), *_outside(blocks[-1], frame, preceding=False)}
    return paragraphs(frame, skipped=cards | others | outside)


def _commonest(blocks: Sequence[Element], prose: Mapping[Element, int]) -> Sequence[Element]:
    """Return the blocks of the commonest make; if each has classes of its own, of the commonest tags."""
    for with_classes in (True, False):
        makes = by_key((_make(block, with_classes=with_classes), block) for block in blocks)
        best = max(makes.values(), key=lambda group: _weight(group, prose), default=[])
        # An article in the frame is of no make with other articles.
        tags = _make(best[0], with_classes=False) if best else ()
        if "article" in tags or _weight(best, prose) >= _weight(blocks, prose) / 2:
            break
    return best


def _weight(blocks: Sequence[Element], prose: Mapping[Element, int]) -> float:
    """Return how much prose is in blocks of one make; what is not marked as a paragraph is a teaser more often."""
    return sum(prose[block] * (1 if block.tag == "p" else OTHER_BLOCK_WEIGHT) for block in blocks)


def _make(block: Element, *, with_classes: bool) -> tuple[str, ...]:
    """Return the tags of the elements around a block, with their classes or without."""
    around = islice(block.iterancestors(), MAKE_DEPTH)
    if not with_classes:
        return tuple(element.tag for element in around)
    return tuple(f"{element.tag} {_NUMBER.sub('', element.get('class', ''))}" for element in around)


def _outside(block: Element, frame: Element, *, preceding: bool) -> Iterator[Element]:
    """Yield what is before the block, or after it, in the frame, except for plain text right next to it."""
    yield from (sibling for sibling in block.itersiblings(preceding=preceding) if sibling.tag not in _TEXT_TAGS)
    for around in block.iterancestors():
        if around is frame or block is frame:
            break
        yield from around.itersiblings(preceding=preceding)


def _declared_frame(page: Element, prose: Mapping[Element, int], headlines: Collection[str]) -> Element:
    """Return the article of the page, else its main part, else the page."""
    main = max(page.iter("main"), key=lambda element: prose[element], default=page)
    if prose[main] < MIN_ARTICLE_SHARE * prose[page]:
        main = page
    articles = [article for article in main.iter("article") if prose[article] >= MIN_ARTICLE_PROSE]
    # Further articles follow on pages that load the next one at their end.
    largest = max(articles, key=lambda element: prose[element], default=None)
    headings = ((article, heading) for article in articles for heading in article.iter("h1", "h2"))
    article = next((article for article, heading in headings if _is_title(heading, headlines)), largest)
    if article is not None and prose[article] >= MIN_ARTICLE_SHARE * prose[main]:
        return article
    return main


def _is_title(heading: Element, headlines: Collection[str]) -> bool:
    return squeeze(heading.text_content()).casefold() in headlines


def _is_card(element: Element, lines: Mapping[Element, tuple[int, int]]) -> bool:
    """Return whether an element with little prose leads to another article: its heading is a link."""
    if element.tag not in _CARD_TAGS:
        return False
    heading = next(element.iter("h2", "h3", "h4", "h5", "h6"), None)
    if heading is None:
        return False
    characters, linked = lines[heading]
    return linked > characters / 2 or heading.getparent().tag == "a"


def _characters(text: str | None) -> int:
    """Return the length of the text; a character of a script without blanks counts as much as two others."""
    if not text:
        return 0
    text = text.strip()
    return len(text) if text.isascii() else len(text) + len(_UNSPACED.findall(text))


def drop_next_articles(page: Element, prose: Mapping[Element, int], headlines: Collection[str]) -> bool:
    """Remove articles that follow the page's own in elements of the same make, each under a main heading.

    Return whether there were any.
    """
    headings = list(page.iter("h1"))
    own = next((heading for heading in headings if _is_title(heading, headlines)), None)
    if own is None:
        return False
    found = False
    around = {ancestor: child for child, ancestor in pairwise((own, *own.iterancestors()))}
    for other in headings[headings.index(own) + 1 :]:
        unit = other
        while unit.getparent() is not None and unit.getparent() not in around:
            unit = unit.getparent()
        first = around.get(unit.getparent())
        if first is None or first.tag != unit.tag or first.get("class") != unit.get("class"):
            continue
        if min(prose[first], prose[unit]) >= MIN_ARTICLE_PROSE:
            unit.drop_tree()
            found = True
    return found
