"""The writer of rules: the articles of a series, or of a dense group, are never duplicates of each other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString

from django.contrib.admin.models import CHANGE
from django.utils import timezone

from articles.storage.audit_log import log_action
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.verdicts.reasons import GROUP_RULE_REASON, RULE_REASON
from dedup.models import Decision, DenseGroup, GroupMember, Pair, Series
from dedup.models.base import read_rows
from dedup.models.pairs import PairQuerySet
from dedup.review.answers.decisions import locked_review
from dedup.review.queries.series_and_groups import members_of

MADE = "made it a rule"
ENDED = "ended the rule"

# Sets the verdict that the next run would set. Pairs that an editor has decided are left to that run.
_JUDGE_BY_RULE_SQL: LiteralString = """
WITH concerned AS MATERIALIZED (
    SELECT id, joins FROM dedup_pair
    WHERE id = ANY (%(pairs)s::bigint[]) AND NOT reasons @> jsonb_build_array(%(reason)s::text)
)
UPDATE dedup_pair AS pair
SET verdict = 'template', probability = 1, duplicate_probability = 0, joins = false, input_digest = NULL,
    relation = 'template', relation_probability = 1,
    reasons = jsonb_build_array(%(reason)s::text) || pair.reasons
FROM concerned
WHERE concerned.id = pair.id
RETURNING pair.left_id, pair.right_id, concerned.joins
"""


class RuleError(ValueError):
    """A rule cannot be made or ended; the message is for the editor."""


@dataclass(frozen=True)
class _Rules:
    """Rules on one kind of rows: which pairs one is about, what refuses it, and where the act is noted."""

    model: type[Series | DenseGroup]
    noun: str
    gone: str
    reason: str
    pairs: Callable[[Any], PairQuerySet]
    refuse: Callable[[Any], None]
    note: Callable[[Any, bool, Any], None]

    def make(self, number: int, *, user: Any) -> int:
        """Make it a rule that these articles are never duplicates of each other; return how many pairs it parted.

        Undecided pairs become templates, and their clusters are updated. Raises RuleError.
        """
        with locked_review():
            row = self._row(number)
            if row.ruled_at:
                raise RuleError(f"{row.ruled_by} already made this a rule on {row.ruled_at:%Y-%m-%d}.")
            self.refuse(row)
            row.ruled_by, row.ruled_at = user, timezone.now()
            row.save(update_fields=["ruled_by", "ruled_at"])
            self.note(row, True, user)
            # The undecided pairs get the verdict of the rule; some had joined a cluster.
            pairs = list(self.pairs(row).in_queue().order_by().values_list("pk", flat=True))
            judged = read_rows(_JUDGE_BY_RULE_SQL, pairs=pairs, reason=self.reason)
            if judged:
                update_questions(rebuild_clusters({end for left, right, _ in judged for end in (left, right)}).articles)
        return sum(joined for *_, joined in judged)

    def end(self, number: int, *, user: Any) -> None:
        """End a rule; the next run judges its pairs by their content. Raises RuleError."""
        with locked_review():
            row = self._row(number)
            if not row.ruled_at:
                raise RuleError(f"This {self.noun} has no rule; someone else has ended it.")
            fields = [name for name in ("ruled_by", "ruled_at", "made_for") if hasattr(row, name)]
            for name in fields:
                setattr(row, name, None)
            row.save(update_fields=fields)
            self.note(row, False, user)

    def _row(self, number: int) -> Any:
        row = self.model.objects.select_related("ruled_by").filter(pk=number).first()
        if row is None:
            raise RuleError(self.gone.format(number))
        return row


def _log(series: Series, made: bool, user: Any) -> None:
    log_action(series, CHANGE, MADE if made else ENDED, user=user)


def _append(group: DenseGroup, made: bool, user: Any) -> None:
    """Append the act to the history, with the articles that the group has now."""
    kind = Decision.Kind.RULE_GROUP if made else Decision.Kind.END_GROUP_RULE
    members = GroupMember.objects.filter(group=group).order_by("article").values_list("article", flat=True)
    Decision.objects.create(kind=kind, group_number=group.pk, articles=list(members), decided_by=user)


def _refuse_confirmed(group: DenseGroup) -> None:
    if confirmed := Decision.objects.group_confirmations([group.pk]).first():
        raise RuleError(
            f"Decision {confirmed.pk} of {confirmed.decided_by} confirmed that the articles of this group are the "
            "same. Undo it first."
        )


RULES = {
    "series": _Rules(
        Series,
        "series",
        "Series {} no longer exists; its headlines have changed.",
        RULE_REASON,
        pairs=lambda series: Pair.objects.among(members_of(series)),
        refuse=lambda _series: None,
        note=_log,
    ),
    "group": _Rules(
        DenseGroup,
        "group",
        "Dense group {} no longer exists; a run has grouped its articles again.",
        GROUP_RULE_REASON,
        pairs=lambda group: Pair.objects.in_group(group.pk),
        refuse=_refuse_confirmed,
        note=_append,
    ),
}
make_rule, end_rule = RULES["series"].make, RULES["series"].end
make_group_rule, end_group_rule = RULES["group"].make, RULES["group"].end
