"""Withholds articles from all pages, exports and runs, and releases them: nothing of them is lost."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from articles.models import Article, Withholding
from articles.storage.ingest import writing
from articles.storage.withholding import put_back, take_away
from newsdedup_site.privacy import traces
from newsdedup_site.privacy.derived import forget_texts
from newsdedup_site.privacy.removal import MAX_REASON_CHARACTERS


class WithholdingError(ValueError):
    """An article that cannot be withheld or released; the message is for the admin."""


def withhold(article_id: int, *, reason: str, user: Any = None) -> Withholding:
    """Take an article from all pages and exports until it is released. Raises WithholdingError.

    Its texts are moved away, so detection does not use it either; decisions on it stay in force.
    """
    reason = reason.replace("\0", "").strip()
    if not reason:
        raise WithholdingError("a reason is required; say who asked for it, and why")
    if len(reason) > MAX_REASON_CHARACTERS:
        raise WithholdingError(f"the reason has {len(reason):,} characters; at most {MAX_REASON_CHARACTERS:,} fit")
    with writing():
        article = Article.objects.filter(pk=article_id).first()
        if article is None:
            raise WithholdingError(f"there is no article {article_id}")
        if article.withheld:
            raise WithholdingError(f"article {article_id} is withheld or being removed already")
        made = Withholding.objects.create(article=article, reason=reason, withheld_by=user)
        take_away(made)
        forget_texts([article_id], for_good=False)
        traces.forget_results()
    return made


def release(article_id: int, *, user: Any = None) -> Withholding:
    """Show an article again, exactly as it was; the next run finds its pairs again. Raises WithholdingError."""
    with writing():
        found = Withholding.objects.filter(article=article_id, released_at=None).first()
        if found is None:
            raise WithholdingError(f"article {article_id} is not withheld")
        put_back(found)
        found.released_at, found.released_by = timezone.now(), user
        found.save(update_fields=["released_at", "released_by"])
        traces.forget_results()
    return found


def withholdings() -> QuerySet[Withholding]:
    """Return all withholdings, those in force first, the latest first."""
    rows = Withholding.objects.select_related("article__newspaper", "withheld_by", "released_by")
    return rows.order_by("-pk")
