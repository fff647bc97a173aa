"""What editors have decided: the history, the last answers of an editor, their pace, and what decisions imply."""

import datetime
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, LiteralString, NamedTuple

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from articles.querysets import texts_of
from dedup.answers import Answer
from dedup.models import ConfirmedArticle, Decision, Pair
from dedup.models.base import Asked, read_each, read_rows
from dedup.models.decisions import NEVER_UNDONE, OF_CLUSTERS
from dedup.research.lessons import KNOWN, answers_missing


def with_actors(decisions: QuerySet[Decision]) -> QuerySet[Decision]:
    """Return these decisions with the editor, the article (without its texts) and the undo of each.

    A list that also names the pair must add it.
    """
    rows = decisions.select_related("decided_by", "article", "undone_by__decided_by", "batch")
    return rows.defer(*texts_of("article"))


def every_decision() -> QuerySet[Decision]:
    """Return every decision with what the history shows, the latest first."""
    rows = with_actors(Decision.objects.all()).select_related("pair__left", "pair__right")
    return rows.defer(*texts_of("pair__left", "pair__right")).order_by("-id")


# Answered from the index link_latest.
_LINKS_SQL = """
SELECT left_id, right_id, effect, decision_id
FROM dedup_standing_link
WHERE left_id = ANY (%(articles)s::bigint[]) AND right_id = ANY (%(articles)s::bigint[])
    AND effect IN ('must', 'cannot')
ORDER BY left_id, right_id
"""

Steps = dict[int, list[tuple[int, int]]]
Path = tuple[int, ...]


def implied_by(pair: Pair) -> list[Decision]:
    """Return the decisions that together imply the state of a pair, in order of time; none if it was decided itself.

    There may be several ways to conclude the same; this is one with the fewest decisions.
    """
    if not pair.implied:
        return []
    ends = {pair.left_id, pair.right_id}
    firsts = ConfirmedArticle.objects.filter(article__in=ends).values("first")
    tied = ends | set(ConfirmedArticle.objects.filter(first__in=firsts).values_list("article", flat=True))
    must, cannot = _links_among(tied)
    from_left, from_right = (_paths(must, article) for article in (pair.left_id, pair.right_id))
    if pair.state == Pair.State.CONFIRMED:
        numbers = from_left[pair.right_id]
    else:
        numbers = min(_separations(cannot, from_left, from_right), key=len)
    return list(every_decision().filter(pk__in=numbers).order_by("pk"))


def _links_among(articles: Collection[int]) -> tuple[Steps, list[tuple[int, int, int]]]:
    """Return the links in force, each with its decision: what each article is tied to, and what is kept apart."""
    must: Steps = {}
    cannot: list[tuple[int, int, int]] = []
    for left, right, effect, decision in read_rows(_LINKS_SQL, articles=list(articles)):
        if effect == "cannot":
            cannot.append((left, right, decision))
        else:
            must.setdefault(left, []).append((right, decision))
            must.setdefault(right, []).append((left, decision))
    return must, cannot


def _paths(steps: Steps, start: int) -> dict[int, Path]:
    """Return the shortest path to each article that is tied to this one: the decisions of its links."""
    paths: dict[int, Path] = {start: ()}
    waiting = deque([start])
    while waiting:
        article = waiting.popleft()
        for other, decision in steps.get(article, ()):
            if other not in paths:
                paths[other] = (*paths[article], decision)
                waiting.append(other)
    return paths


def _separations(
    cannot: Iterable[tuple[int, int, int]], from_left: Mapping[int, Path], from_right: Mapping[int, Path]
) -> list[Path]:
    """Return the decisions of each way from the left article over a cannot-link to the right one."""
    turned = [(other, one, decision) for one, other, decision in cannot]
    return [
        (*from_left[one], decision, *from_right[other])
        for one, other, decision in (*cannot, *turned)
        if one in from_left and other in from_right
    ]


# A working day; older decisions are undone from the history.
RECENT = datetime.timedelta(hours=8)
SHOWN = 10
# Every question shows them: a statement of Django's own takes longer to make than to run. The undo of each decision is
# looked up; from the index decision_of_editor.
_LAST_SQL: LiteralString = """
SELECT decision.id, decision.kind, decision.cluster_number, decision.pair_id, article.headline, article.language
FROM dedup_decision AS decision
LEFT JOIN dedup_pair AS pair ON pair.id = decision.pair_id
LEFT JOIN articles_article AS article ON article.id = pair.left_id
WHERE decision.decided_by_id = %(user)s AND decision.decided_at >= %(since)s AND decision.kind <> ALL (%(never)s)
    AND (SELECT id FROM dedup_decision AS undo WHERE undo.undoes_id = decision.id LIMIT 1) IS NULL
ORDER BY decision.decided_at DESC, decision.id DESC
LIMIT %(most)s
"""


class LastAnswer(NamedTuple):
    """A decision of an editor, with the headline of the first article if it is on a pair."""

    pk: int
    kind: str
    cluster_number: int | None
    pair_id: int | None
    headline: str | None
    language: str | None


def ask_last(user: User) -> Asked:
    """Return what asks for the columns of last_answers(user)."""
    since = timezone.now() - RECENT
    return _LAST_SQL, {"user": user.pk, "since": since, "never": list(NEVER_UNDONE), "most": SHOWN}


def last_answers(user: User) -> list[LastAnswer]:
    """Return the latest decisions of an editor that are in force and can be undone, the latest first.

    At most SHOWN, and none that is older than RECENT.
    """
    return [LastAnswer(*row) for row in read_each(ask_last(user))[0]]


# A longer pause begins a new sitting.
PAUSE = datetime.timedelta(minutes=30)
# A pace over fewer answers, or a shorter time, says nothing.
LEAST_ANSWERS = 5
LEAST_TIME = datetime.timedelta(minutes=1)
# Answers of one day that are read; more are not counted.
MOST_READ = 5_000
ON_CLUSTERS = (
    *OF_CLUSTERS.values(),
    Decision.Kind.SPLIT_CLUSTER,
    Decision.Kind.MERGE_CLUSTERS,
    Decision.Kind.TAKE_OUT,
)
ANSWERS = (*Answer, *ON_CLUSTERS)
# Every question asks it, and a statement of Django's own takes longer to make than to run. The undo of each decision is
# looked up; from the index decision_of_editor.
_TIMES_SQL: LiteralString = """
(
    SELECT decided_at FROM dedup_decision AS decision
    WHERE decided_by_id = %(user)s AND decided_at >= %(since)s AND kind = ANY (%(kinds)s)
        AND (SELECT id FROM dedup_decision AS undo WHERE undo.undoes_id = decision.id LIMIT 1) IS NULL
    ORDER BY decided_at DESC LIMIT %(most)s
)
UNION ALL
SELECT read_at FROM dedup_secondreading WHERE user_id = %(user)s AND blind AND read_at >= %(since)s
"""


class Progress(NamedTuple):
    """An editor's answers, without those that were undone, and what is left."""

    sitting: int
    today: int
    an_hour: int | None  # the pace of this sitting; None if it has just begun
    open: int  # questions that wait
    missing: int  # answers until the model can learn

    @property
    def of(self) -> int:
        """The questions answered today and those that wait."""
        return self.today + self.open


def ask_progress(user: Any) -> tuple[Asked, Asked]:
    """Return what asks for the rows that progress_of needs."""
    since = min(_midnight(timezone.now()), timezone.now() - datetime.timedelta(hours=12))
    return (_TIMES_SQL, {"user": user.pk, "since": since, "kinds": list(ANSWERS), "most": MOST_READ}), KNOWN


def _midnight(now: datetime.datetime) -> datetime.datetime:
    return timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)


def progress_of(user: Any, open_questions: int, found: Sequence[Any] | None = None) -> Progress:
    """Return how far an editor is, with this many questions open; `found`: what ask_progress gave, if it was asked."""
    rows, known = found or read_each(*ask_progress(user))
    now = timezone.now()
    midnight = _midnight(now)
    times = sorted((time for (time,) in rows), reverse=True)
    in_sitting = sitting(times, now)
    return Progress(
        sitting=len(in_sitting),
        today=sum(time >= midnight for time in times),
        an_hour=pace(in_sitting),
        open=open_questions,
        missing=answers_missing(known),
    )


def sitting(times: Sequence[datetime.datetime], now: datetime.datetime) -> Sequence[datetime.datetime]:
    """Return the times of this sitting, of times from the latest to the earliest: no pause is longer than PAUSE."""
    last = now
    for place, time in enumerate(times):
        if last - time > PAUSE:
            return times[:place]
        last = time
    return times


def pace(times: Sequence[datetime.datetime]) -> int | None:
    """Return the answers an hour between the first and the last of these times; None if they are too few."""
    if len(times) < LEAST_ANSWERS or times[0] - times[-1] < LEAST_TIME:
        return None
    return round((len(times) - 1) * datetime.timedelta(hours=1) / (times[0] - times[-1]))
