"""The writer of newspapers' affixes: what they put before or after their headlines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Count
from django.db.models.functions import Length

from articles.models import Article, Newspaper
from articles.normalization.affixes import LEAST_HEADLINES, learn_affixes
from articles.storage.ingest import writing
from articles.storage.renormalization import mark_outdated, renormalize

# Reading this many headlines, the newest of a newspaper, blocks other writers for half a second.
LEARNT_FROM = 20_000
# Longer ones are not headlines, and many separators make them slow to read.
LONGEST_HEADLINE = 250


def update_affixes_and_forms(newspapers: Iterable[Newspaper]) -> list[Newspaper]:
    """Learn the affixes of these newspapers and update the forms of their articles; return those with new affixes."""
    changed = update_affixes(newspapers)
    for _ in renormalize(changed):
        pass
    return changed


def update_affixes(newspapers: Iterable[Newspaper] | None = None) -> list[Newspaper]:
    """Learn the affixes of these newspapers, or of all, from their headlines as they were stored.

    Returns those whose affixes changed; the forms of their articles are outdated. The same articles give the same
    affixes, and a learnt affix stays as long as a headline has it.
    """
    articles = Article.objects.all()
    if newspapers is not None:
        articles = articles.filter(newspaper__in=list(newspapers))
    enough = articles.order_by().values("newspaper").annotate(Count("id")).filter(id__count__gte=LEAST_HEADLINES)
    found = (_learn(pk) for pk in enough.order_by("newspaper__name").values_list("newspaper", flat=True))
    return [newspaper for newspaper in found if newspaper is not None]


def affixes_line(newspaper: Newspaper) -> str:
    """Return a sentence for people about the affixes learnt of a newspaper."""
    learnt = ", ".join(f"“{each}”" for each in newspaper.learnt_affixes)
    return f"{newspaper}: learnt headline affixes: {learnt or 'none'}."


def newspapers_since(revision: int) -> Sequence[Newspaper]:
    """Return the newspapers with articles that were added or changed after this revision."""
    return list(Newspaper.objects.filter(articles__revision__gt=revision).distinct())


def newest_headlines(newspaper: Newspaper) -> list[str]:
    """Return the headlines to learn from, in chronological order."""
    headlines = newspaper.articles.alias(length=Length("headline")).filter(length__lte=LONGEST_HEADLINE)
    newest = headlines.order_by("-date", "-id").values_list("headline", flat=True)[:LEARNT_FROM]
    return list(reversed(newest))


def affixes_learnt(newspaper: Newspaper, known: Sequence[str]) -> list[str]:
    """Return the affixes of a newspaper's headlines; those in `known` stay as long as a headline has them."""
    names = [newspaper.name, *newspaper.title_affixes]
    return learn_affixes(newest_headlines(newspaper), known, names=names, refused=newspaper.refused_affixes)


def _learn(newspaper_id: int) -> Newspaper | None:
    with writing():
        newspaper = Newspaper.objects.get(pk=newspaper_id)
        learnt = affixes_learnt(newspaper, newspaper.learnt_affixes)
        if learnt == newspaper.learnt_affixes:
            return None
        newspaper.learnt_affixes = learnt
        newspaper.save(update_fields=["learnt_affixes"])
        mark_outdated(newspaper)
        return newspaper
