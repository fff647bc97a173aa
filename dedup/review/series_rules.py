"""The writer of rules: the articles of a series are never duplicates of each other."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.models import CHANGE
from django.db import connection, transaction
from django.utils import timezone

from articles.storage.audit_log import log_action
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.verdicts.reasons import RULE_REASON
from dedup.models import Series

MADE = "made it a rule"
ENDED = "ended the rule"

# Sets the verdict that the next run would set. Pairs that an editor has decided are left to that run.
# The forms are found by the index headline_form.
_JUDGE_BY_RULE_SQL = """
WITH member AS MATERIALIZED (
    SELECT article_id FROM dedup_headlineform
    WHERE newspaper_id = %(newspaper)s AND md5(form) = md5(%(form)s) AND form = %(form)s
), concerned AS MATERIALIZED (
    SELECT id, joins FROM dedup_pair
    WHERE state = 'undecided' AND best_score > 0
      AND left_id IN (SELECT article_id FROM member) AND right_id IN (SELECT article_id FROM member)
)
UPDATE dedup_pair AS pair
SET verdict = 'template', probability = 1, duplicate_probability = 0, joins = false, rests_on = NULL,
    reasons = jsonb_build_array(%(reason)s::text) || pair.reasons
FROM concerned
WHERE concerned.id = pair.id AND NOT pair.reasons @> jsonb_build_array(%(reason)s::text)
RETURNING pair.left_id, pair.right_id, concerned.joins
"""


class RuleError(ValueError):
    """A rule cannot be made or ended; the message is for the editor."""


def make_rule(series_id: int, *, user: Any) -> int:
    """Make it a rule that the articles of a series are never duplicates of each other; return how many pairs it parted.

    Undecided pairs become templates, and their clusters are updated. Raises RuleError.
    """
    with transaction.atomic():
        lock_review()
        series = _series(series_id)
        if series.ruled_at:
            raise RuleError(f"{series.ruled_by} already made this a rule on {series.ruled_at:%Y-%m-%d}.")
        series.ruled_by, series.ruled_at = user, timezone.now()
        series.save(update_fields=["ruled_by", "ruled_at"])
        log_action(series, CHANGE, MADE, user=user, object_id=str(series.pk))
        judged = _judge_by_rule(series)
        if judged:
            update_questions(rebuild_clusters({end for left, right, _ in judged for end in (left, right)}).articles)
    return sum(joined for *_, joined in judged)


def end_rule(series_id: int, *, user: Any) -> None:
    """End the rule of a series; the next run judges its pairs by their content. Raises RuleError."""
    with transaction.atomic():
        lock_review()
        series = _series(series_id)
        if not series.ruled_at:
            raise RuleError("This series has no rule; someone else has ended it.")
        series.ruled_by = series.ruled_at = series.made_for = None
        series.save(update_fields=["ruled_by", "ruled_at", "made_for"])
        log_action(series, CHANGE, ENDED, user=user, object_id=str(series.pk))


def _series(series_id: int) -> Series:
    series = Series.objects.select_related("ruled_by").filter(pk=series_id).first()
    if series is None:
        raise RuleError(f"Series {series_id} no longer exists; its headlines have changed.")
    return series


def _judge_by_rule(series: Series) -> list[tuple[int, int, bool]]:
    """Give the series' undecided pairs the verdict of the rule; return them, and whether each had joined a cluster."""
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"newspaper": series.newspaper_id, "form": series.form, "reason": RULE_REASON}
        cursor.execute(_JUDGE_BY_RULE_SQL, values)
        return cursor.fetchall()
