"""`manage.py demo_review`: decisions of two invented editors on the demo newspapers, for every page to show some."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Abs

from articles.management.base import ProjectCommand
from crawlers.demo.papers import PAPERS
from dedup.answers import Answer
from dedup.models import Cluster, Decision, Pair, Series
from dedup.models.decisions import DRAWN_WITH
from dedup.models.pairs import PairQuerySet
from dedup.review.answers.decisions import decide_pair, keep_article, undo
from dedup.review.queries.series_and_groups import TEMPLATES_FOR_A_RULE, members_of
from dedup.review.readings.second_readings import answer_collision, read_again, waits_for
from newsdedup_site.people.actions import set_role

# They have no passwords: nobody can log in as them.
EDITORS = ("anna", "ben")


class Command(ProjectCommand):
    """Decide once; a second time, nothing is left to do."""

    help = (
        "Let two invented editors decide on some pairs of the demo newspapers: duplicates, versions and templates, a "
        "contradiction, a disagreement, and pairs that wait for a second reading. Run it after find_duplicates."
    )

    def handle(self, **_options: Any) -> None:
        """Decide, unless these editors have done so before."""
        with transaction.atomic():
            anna, ben = (_editor(name) for name in EDITORS)
            if not Decision.objects.filter(decided_by=anna).exists():
                _contradict(anna, ben)
                _call_templates(anna)
                _read_again(anna, ben)
                _disagree(anna, ben)
                _keep_another(ben)
        self.stdout.write(
            f"{anna} and {ben} made {Decision.objects.filter(decided_by__in=[anna, ben]).count()} decisions."
        )


def _editor(name: str) -> User:
    user, made = User.objects.get_or_create(username=name)
    if made:
        user.set_unusable_password()
        user.save()
        set_role(user, "editor")
    elif user.has_usable_password():
        raise CommandError(f"{name} is somebody's login here. The demo is for an installation of its own.")
    return user


def _pairs() -> PairQuerySet:
    names = [paper.name for paper in PAPERS.values()]
    return Pair.objects.in_queue().filter(left__newspaper__name__in=names, right__newspaper__name__in=names)


def _contradict(anna: User, ben: User) -> None:
    """Let two pairs of a cluster be confirmed, and the third one, which then follows, be rejected."""
    for cluster in Cluster.objects.filter(size__gte=3).order_by("-lowest_score", "pk"):
        members = sorted(cluster.memberships.values_list("article", flat=True))[:3]
        found = list(_pairs().among(members).order_by("left", "right"))
        if len(found) == 3:
            first, last, second = found
            decide_pair(first.pk, Answer.CONFIRM, user=anna)
            decide_pair(second.pk, Answer.CONFIRM, user=anna)
            decide_pair(last.pk, Answer.REJECT, user=ben, note="Is this really the same report?")
            return


def _call_templates(anna: User) -> None:
    """Call so many pairs of a series templates that a rule is offered."""
    series = Series.objects.order_by("-articles", "pk").first()
    if series is not None:
        for pair in _pairs().among(members_of(series)).order_by("pk")[:TEMPLATES_FOR_A_RULE]:
            decide_pair(pair.pk, Answer.TEMPLATE, user=anna)


def _read_again(anna: User, ben: User) -> None:
    """Decide on pairs that are drawn for a second reading: the other editor has read one of two."""
    drawn = _pairs().filter(verdict="duplicate").drawn(DRAWN_WITH)[:2]
    decided = [decide_pair(pair.pk, Answer.CONFIRM, user=anna) for pair in drawn]
    waiting = [decision.pair_id for decision in decided if waits_for(decision.pair_id or 0, ben)]
    if waiting:
        read_again(waiting[0] or 0, Answer.CONFIRM, user=ben)


def _disagree(anna: User, ben: User) -> None:
    """Decide on the most doubtful pairs; the other editor contests the first, and one decision is undone."""
    doubtful = _pairs().order_by(Abs(F("duplicate_probability") - 0.5), "pk")[:3]
    kinds = (Answer.CONFIRM, Answer.VERSION, Answer.UNSURE)
    decided = [decide_pair(pair.pk, kind, user=anna) for pair, kind in zip(doubtful, kinds, strict=False)]
    for decision in decided[:1]:
        answer_collision(
            decision.pair_id or 0, decision.pk, Answer.VERSION, user=ben, note="The second one has a new ending."
        )
    for decision in decided[2:]:
        undo(decision.pk, user=anna)


def _keep_another(ben: User) -> None:
    """Choose another article than the earliest to represent a cluster."""
    cluster = Cluster.objects.filter(size=2, state=Cluster.State.PROPOSED).order_by("pk").first()
    if cluster is not None:
        other = cluster.memberships.exclude(article=cluster.kept_id).values_list("article", flat=True)[0]
        keep_article(cluster.pk, other, user=ben)
