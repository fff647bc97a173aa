"""The articles of a cluster as its page lists them: equal texts are one row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from django.db.models import Q
from django.db.models.functions import Left, Length

from articles.models import Article
from articles.normalization.times import publication_order
from dedup.detection.comparison.alignment import shared_words
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.comparison.shown_text import ShownText
from dedup.detection.comparison.word_alignment import MAX_COMPARISONS, comparisons
from dedup.models import Pair
from dedup.review.queries.boilerplate import compared_texts

# One character more than the template shows of each text, so that it marks the text as cut.
BEGINNING_CHARACTERS = 201
# The words of so much text are counted; more would take too long.
COMPARED_CHARACTERS = 500_000


@dataclass(frozen=True, slots=True)
class WordsChanged:
    """How many words a text has more and less than that of the kept article. Moved ones do not count."""

    added: int
    removed: int


@dataclass(slots=True)
class Row:
    """Articles with the same text, in order of publication, and the one that is shown: the kept one, if it is in it.

    `headlines` are the different ones, that of `shown` first. `changed` is None for the text of the kept article, and
    for one that was not compared.
    """

    number: int
    articles: list[Article]
    shown: Article
    kept: bool
    headlines: list[str]
    characters: int = 0
    beginning: str = ""
    changed: WordsChanged | None = None
    pair_id: int | None = None  # the pair of `shown` and the kept article, if a pass found it
    ticked: bool = False
    inside: int = 0  # pairs of its articles with each other
    ids: str = field(init=False)  # of all articles, as the form sends them

    def __post_init__(self) -> None:
        self.ids = ",".join(str(article.pk) for article in self.articles)

    @property
    def tick_action(self) -> str:
        """The name of the action that ticks it; the first nine have keys."""
        return f"tick_{self.number}"

    @property
    def others(self) -> list[str]:
        """The headlines that differ from the one shown."""
        return self.headlines[1:]


def rows_of(articles: Sequence[Article], kept_id: int) -> list[Row]:
    """Return the rows of these articles, by their first publication, each with the beginning of its text."""
    by_id = {article.pk: article for article in articles}
    groups: dict[object, list[Article]] = {}
    for pk in publication_order((each.pk, each.date, each.published_at) for each in articles):
        # An empty text has no digest, and is like no other.
        groups.setdefault(by_id[pk].text_digest or pk, []).append(by_id[pk])
    rows = [_row(number, group, kept_id) for number, group in enumerate(groups.values(), 1)]
    _add_texts(rows)
    return rows


def _row(number: int, group: list[Article], kept_id: int) -> Row:
    shown = next((article for article in group if article.pk == kept_id), group[0])
    headlines = list(dict.fromkeys([shown.headline, *(article.headline for article in group)]))
    return Row(number, group, shown, shown.pk == kept_id, headlines)


def _add_texts(rows: Collection[Row]) -> None:
    texts = Article.objects.filter(pk__in=[row.shown.pk for row in rows])
    columns = texts.values_list("pk", Length("content"), Left("content", BEGINNING_CHARACTERS))
    beginnings = {pk: (characters, beginning) for pk, characters, beginning in columns}
    for row in rows:
        row.characters, row.beginning = beginnings[row.shown.pk]


def name_pairs(rows: Collection[Row], kept_id: int) -> None:
    """Add the pair of each row with the kept article, if there is one."""
    row_of = {row.shown.pk: row for row in rows}
    with_kept = Q(left=kept_id, right__in=row_of) | Q(right=kept_id, left__in=row_of)
    for left, right, pk in Pair.objects.filter(with_kept).order_by().values_list("left", "right", "pk"):
        row_of[left if right == kept_id else right].pair_id = pk


def compare_with_kept(rows: Collection[Row], kept_id: int) -> None:
    """Add how many words each text has more and less than that of the kept article, by sentences, wherever they are."""
    left = COMPARED_CHARACTERS
    chosen = {}
    for row in rows:
        left -= row.characters
        if not row.kept and left >= 0:
            chosen[row.shown.pk] = row
    if not chosen:
        return
    preparer = Preparer()
    articles = list(Article.objects.filter(pk__in=[*chosen, kept_id]).only("date", "content", "boilerplate"))
    texts = [ShownText(text, preparer).prepared for text in compared_texts(articles)]
    found = dict(zip((article.pk for article in articles), texts, strict=True))
    kept = found[kept_id]
    for pk, row in chosen.items():
        if comparisons(kept, found[pk]) <= MAX_COMPARISONS:
            shared = shared_words(kept, found[pk])
            row.changed = WordsChanged(len(found[pk].words) - shared, len(kept.words) - shared)
