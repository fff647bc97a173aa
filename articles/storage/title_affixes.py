"""The writer of newspapers' affixes: what they put before or after their headlines."""

from collections.abc import Iterable, Sequence
from contextlib import closing

from django.db.models import Count
from django.db.models.functions import Length

from articles.models import Article, Newspaper
from articles.normalization.affixes import LEAST_WITH_LONG, learn_affixes
from articles.processes import THIS_PROCESS, Pool
from articles.storage.fingerprints import fingerprint
from articles.storage.ingest import refresh_statistics, writing
from articles.storage.renormalization import mark_outdated, renormalize

# Of a newspaper, the newest. Reading so many blocks other writers for a tenth of a second.
LEARNT_FROM = 20_000
# Starting processes takes longer than learning from this many.
FEW_HEADLINES = 10_000
# Longer ones are not headlines, and many separators make them slow to read.
LONGEST_HEADLINE = 250


def settle_import(before: int, created: int, pool: Pool) -> list[Newspaper]:
    """Learn the affixes of newspapers with articles newer than the revision `before`; return those that changed.

    `created` is how many articles were stored since that.
    """
    refresh_statistics(created)
    return update_affixes_and_forms(Newspaper.objects.filter(articles__revision__gt=before).distinct(), pool=pool)


def update_affixes_and_forms(newspapers: Iterable[Newspaper], *, pool: Pool = THIS_PROCESS) -> list[Newspaper]:
    """Learn the affixes of these newspapers and update the forms of their articles; return those with new affixes.

    The processes of the pool, which use this database, do most of it. Raises WorkerDiedError if one was killed.
    """
    changed = update_affixes(newspapers, pool=pool)
    for _ in renormalize(changed, pool=pool):
        pass
    return changed


def update_affixes(newspapers: Iterable[Newspaper] | None = None, *, pool: Pool = THIS_PROCESS) -> list[Newspaper]:
    """Learn the affixes of these newspapers, or of all, from their headlines as they were stored.

    Returns those whose affixes changed; the forms of their articles are outdated. The same articles give the same
    affixes, and a learnt affix stays as long as a headline has it. The pool is used as above.
    """
    articles = Article.objects.all()
    if newspapers is not None:
        articles = articles.filter(newspaper__in=list(newspapers))
    enough = articles.order_by().values("newspaper").annotate(Count("id")).filter(id__count__gte=LEAST_WITH_LONG)
    counts = dict(enough.order_by("newspaper__name").values_list("newspaper", "id__count"))
    few = sum(counts.values()) <= FEW_HEADLINES
    with closing(pool.stream(counts, learnt_from, at_most=1 if few else None)) as stream:
        updated = [_update(newspaper_id, *learnt) for newspaper_id, learnt in stream]
    return [newspaper for newspaper in updated if newspaper is not None]


def learnt_from(newspaper_id: int, _on_progress: object = None) -> tuple[list[str], str]:
    """Return the affixes learnt of a newspaper's headlines, and a fingerprint of these; a task of a worker process."""
    lesson = _lesson(Newspaper.objects.get(pk=newspaper_id))
    return learn_affixes(**lesson), fingerprint(lesson)


def affixes_line(newspaper: Newspaper) -> str:
    """Return a sentence for people about the affixes learnt of a newspaper."""
    learnt = ", ".join(f"“{affix}”" for affix in newspaper.learnt_affixes)
    return f"{newspaper}: learnt headline affixes: {learnt or 'none'}."


def newest_headlines(newspaper: Newspaper) -> list[str]:
    """Return the headlines to learn from, in chronological order."""
    headlines = newspaper.articles.alias(length=Length("headline")).filter(length__lte=LONGEST_HEADLINE)
    return list(reversed(headlines.order_by("-date", "-id").values_list("headline", flat=True)[:LEARNT_FROM]))


def affixes_learnt(newspaper: Newspaper, known: Sequence[str]) -> list[str]:
    """Return the affixes of a newspaper's headlines; those in `known` stay as long as a headline has them."""
    return learn_affixes(**_lesson(newspaper) | {"known": known})


def _lesson(newspaper: Newspaper) -> dict[str, Sequence[str]]:
    """Return what the affixes of a newspaper are learnt from: the arguments of learn_affixes."""
    return {
        "headlines": newest_headlines(newspaper),
        "known": newspaper.learnt_affixes,
        "names": [newspaper.name, *newspaper.title_affixes],
        "refused": newspaper.refused_affixes,
    }


def _update(newspaper_id: int, learnt: list[str], learnt_of: str) -> Newspaper | None:
    """Store what was learnt, or learn it again if the headlines have changed meanwhile; None if it changes nothing."""
    with writing():
        newspaper = Newspaper.objects.get(pk=newspaper_id)
        lesson = _lesson(newspaper)
        affixes = learnt if learnt_of == fingerprint(lesson) else learn_affixes(**lesson)
        if affixes == newspaper.learnt_affixes:
            return None
        newspaper.learnt_affixes = affixes
        newspaper.save(update_fields=["learnt_affixes"])
        mark_outdated(newspaper)
        return newspaper
