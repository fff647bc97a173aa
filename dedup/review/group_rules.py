"""The writer of rules on dense groups: the articles of a group are never duplicates of each other."""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from dedup.detection.clustering.constraints import lock_review
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.verdicts.reasons import GROUP_RULE_REASON
from dedup.models import Decision, DenseGroup, GroupMember
from dedup.review.series_rules import RuleError

# Sets the verdict that the next run would set. Pairs that an editor has decided are left to that run.
_JUDGE_BY_RULE_SQL = """
WITH concerned AS MATERIALIZED (
    SELECT pair.id, pair.joins
    FROM dedup_groupmember AS left_member
    JOIN dedup_pair AS pair ON pair.left_id = left_member.article_id
    JOIN dedup_groupmember AS right_member
        ON right_member.article_id = pair.right_id AND right_member.group_id = left_member.group_id
    WHERE left_member.group_id = %(group)s AND pair.state = 'undecided' AND pair.best_score > 0
)
UPDATE dedup_pair AS pair
SET verdict = 'template', probability = 1, duplicate_probability = 0, joins = false, rests_on = NULL,
    reasons = jsonb_build_array(%(reason)s::text) || pair.reasons
FROM concerned
WHERE concerned.id = pair.id AND NOT pair.reasons @> jsonb_build_array(%(reason)s::text)
RETURNING pair.left_id, pair.right_id, concerned.joins
"""


def make_group_rule(group_id: int, *, user: Any) -> int:
    """Make it a rule that the articles of a group are never duplicates of each other; return how many pairs it parted.

    Undecided pairs become templates, and their clusters are updated. Raises RuleError.
    """
    with transaction.atomic():
        lock_review()
        group = _group(group_id)
        if group.ruled_at:
            raise RuleError(f"{group.ruled_by} already made this a rule on {group.ruled_at:%Y-%m-%d}.")
        confirmed = Decision.objects.group_confirmations([group_id]).first()
        if confirmed:
            raise RuleError(
                f"Decision {confirmed.pk} of {confirmed.decided_by} confirmed that the articles of this group are the "
                "same. Undo it first."
            )
        group.ruled_by, group.ruled_at = user, timezone.now()
        group.save(update_fields=["ruled_by", "ruled_at"])
        _note(group, Decision.Kind.RULE_GROUP, user)
        judged = _judge_by_rule(group)
        if judged:
            update_questions(rebuild_clusters({end for left, right, _ in judged for end in (left, right)}).articles)
    return sum(joined for *_, joined in judged)


def end_group_rule(group_id: int, *, user: Any) -> None:
    """End the rule of a group; the next run judges its pairs by their content. Raises RuleError."""
    with transaction.atomic():
        lock_review()
        group = _group(group_id)
        if not group.ruled_at:
            raise RuleError("This group has no rule; someone else has ended it.")
        group.ruled_by = group.ruled_at = None
        group.save(update_fields=["ruled_by", "ruled_at"])
        _note(group, Decision.Kind.END_GROUP_RULE, user)


def _note(group: DenseGroup, kind: Decision.Kind, user: Any) -> None:
    """Append the act to the history, with the articles that the group has now."""
    members = GroupMember.objects.filter(group=group).order_by("article").values_list("article", flat=True)
    Decision.objects.create(kind=kind, group_number=group.pk, articles=list(members), decided_by=user)


def _group(group_id: int) -> DenseGroup:
    group = DenseGroup.objects.select_related("ruled_by").filter(pk=group_id).first()
    if group is None:
        raise RuleError(f"Dense group {group_id} no longer exists; a run has grouped its articles again.")
    return group


def _judge_by_rule(group: DenseGroup) -> list[tuple[int, int, bool]]:
    """Give the group's undecided pairs the verdict of the rule; return them, and whether each had joined a cluster."""
    with connection.cursor() as cursor:
        cursor.execute(_JUDGE_BY_RULE_SQL, {"group": group.pk, "reason": GROUP_RULE_REASON})
        return cursor.fetchall()
