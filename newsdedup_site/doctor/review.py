"""Whether the states of pairs follow from the decisions in force, and clusters and questions from both."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import LiteralString

from articles.grouping import by_key
from dedup.answers import LINKS_BY_PROFILE, Answer
from dedup.detection.clustering.constraints import constraints_in_force, expected_implications, with_pair_state
from dedup.detection.clustering.questions import Subject, all_questions, expected_counts
from dedup.detection.clustering.rebuild import changed_since_rebuilt, differs, expected_clusters
from dedup.models import Cluster, ConfirmedArticle, Link, Membership, Pair, QuestionCount, SeparateArticles
from dedup.models.decisions import NEVER_UNDONE
from newsdedup_site.doctor.invariant import FULL_RUN, Found, Invariant, Sample, by, listed

_STATES_SQL = with_pair_state(
    """
SELECT format('pair %s is %s%s, and by the decisions in force %s%s', pair.id,
    pair.state, CASE WHEN pair.implied THEN ' (implied)' ELSE '' END,
    {state}, CASE WHEN {implied} THEN ' (implied)' ELSE '' END)
FROM dedup_pair AS pair
{state_joins}
WHERE (pair.state, pair.implied) IS DISTINCT FROM ({state}, {implied})
""",
    of="pair",
)
# An undo, and a decision that repeats what others say, need no link of their own.
_LINKS_SQL: LiteralString = """
WITH said (kind, link) AS (
    SELECT * FROM unnest(%(answers)s::text[], %(links)s::text[])
)
SELECT format('decision %%s (%%s) on pair %%s has no link that says so', decision.id, decision.kind,
    decision.pair_id)
FROM dedup_decision AS decision
JOIN said ON said.kind = decision.kind
JOIN dedup_pair AS pair ON pair.id = decision.pair_id
WHERE NOT EXISTS (
    SELECT FROM dedup_link AS link
    WHERE link.decision_id = decision.id AND link.kind = said.link
        AND link.left_id = pair.left_id AND link.right_id = pair.right_id
)
"""
_ANSWERS = {"answers": list(Answer), "links": [answer.link for answer in Answer]}
_LINKED_SQL: LiteralString = """
SELECT format('decision %s links articles %s and %s, and is not about both', link.decision_id,
    link.left_id, link.right_id)
FROM dedup_link AS link
JOIN dedup_decision AS decision ON decision.id = link.decision_id
WHERE decision.undoes_id IS NOT NULL
    OR cardinality(decision.articles) > 0 AND NOT decision.articles @> ARRAY[link.left_id, link.right_id]
"""
_UNDONE_SQL: LiteralString = """
SELECT format('decision %%s undoes decision %%s, which %%s', undo.id, undone.id,
    CASE WHEN undone.kind = 'undo' THEN 'is an undo' WHEN undone.id > undo.id THEN 'is a later one'
    ELSE 'is of a kind that is never undone' END)
FROM dedup_decision AS undo
JOIN dedup_decision AS undone ON undone.id = undo.undoes_id
WHERE undo.kind <> 'undo' OR undone.kind = ANY (%(never_undone)s::text[]) OR undone.id > undo.id
"""
_BATCHES_SQL: LiteralString = """
SELECT format('batch %s has %s questions, and %s are stored', batch.id, batch.size, count(item.id))
FROM dedup_batch AS batch
LEFT JOIN dedup_batchitem AS item ON item.batch_id = batch.id
GROUP BY batch.id
HAVING count(item.id) <> batch.size OR count(item.place) <> batch.drawn
"""


def _implications(_sample: Sample) -> Found:
    # What answers of "version" imply may have changed since the last run.
    if Link.objects.filter(kind__in=LINKS_BY_PROFILE).exists() and changed_since_rebuilt() is None:
        return Found(waiting="Settings of the default profile have changed; the next run renews what they imply.")
    expected = expected_implications()
    firsts = dict(ConfirmedArticle.objects.values_list("article", "first"))
    separate = set(SeparateArticles.objects.values_list("one", "other"))
    missing, wrong = expected.separate - separate, separate - expected.separate
    return listed(
        [*_tied_otherwise(firsts, expected.firsts)]
        + [f"articles {one} and {other} are separate, and it is not stored" for one, other in missing]
        + [f"articles {one} and {other} are stored as separate, and are not" for one, other in wrong]
    )


def _tied_otherwise(stored: dict[int, int], expected: dict[int, int]) -> Iterator[str]:
    for article in sorted(stored.keys() | expected.keys()):
        if stored.get(article) != expected.get(article):
            now, then = (ties.get(article) or "nothing" for ties in (stored, expected))
            yield f"article {article} is tied to {now}, and by the decisions in force to {then}"


_STATES_REPAIR = (
    "Undo a decision on one of its articles and make it again, or call "
    "dedup.detection.clustering.constraints.update_implications with these articles."
)


_SIZES_SQL: LiteralString = """
WITH counted AS (
    SELECT cluster.id, cluster.size, count(member.id) AS members,
        bool_or(member.article_id = cluster.kept_id) AS has_kept
    FROM dedup_cluster AS cluster
    LEFT JOIN dedup_membership AS member ON member.cluster_id = cluster.id
    GROUP BY cluster.id
)
SELECT format('cluster %s has %s articles and the size %s%s', id, members, size,
    CASE WHEN has_kept IS TRUE THEN '' ELSE ', and its article to keep is not one of them' END)
FROM counted
WHERE members <> size OR members < 2 OR has_kept IS NOT TRUE
"""
_CHANGED = "The next run rebuilds all clusters and questions: there was none yet, or a setting has changed."


def _unsettled(groups: Iterable[Sequence[int]]) -> set[int] | None:
    """Return the articles of clusters that the next run rebuilds anyway, as they are connected to what has changed.

    None: all of them. `groups` are the articles that hang together for other reasons than their pairs and links.
    """
    changed = changed_since_rebuilt()
    if not changed:
        return None if changed is None else set()
    constraints = constraints_in_force()
    joined = Pair.objects.proposed().filter(joins=True).order_by().values_list("left", "right")
    neighbours: defaultdict[int, set[int]] = defaultdict(set)
    for group in (*joined.iterator(), *constraints.must, *constraints.stay, *groups):
        for one, other in pairwise(group):
            neighbours[one].add(other)
            neighbours[other].add(one)
    reached, frontier = set(changed), set(changed)
    while frontier:
        frontier = {neighbour for article in frontier for neighbour in neighbours.get(article, ())} - reached
        reached |= frontier
    return reached


def _stored_members() -> dict[int, tuple[int, ...]]:
    members = by_key(Membership.objects.order_by("article").values_list("cluster", "article"))
    return {cluster: tuple(articles) for cluster, articles in members.items()}


def _clusters(_sample: Sample) -> Found:
    stored, expected = _stored_members(), expected_clusters()
    unsettled = _unsettled([*stored.values(), *expected])
    if unsettled is None:
        return Found(waiting=_CHANGED)
    return listed(_wrong(stored, expected, unsettled))


def _wrong(
    stored: Mapping[int, tuple[int, ...]], expected: Mapping[tuple[int, ...], Cluster], unsettled: set[int]
) -> Iterator[str]:
    rows = Cluster.objects.in_bulk()
    for number, articles in sorted(stored.items()):
        if articles[0] in unsettled:
            continue
        if articles not in expected:
            yield f"cluster {number} has the articles {_few(articles)}, which nothing holds together so"
        elif number in rows and differs(rows[number], expected[articles]):
            yield f"cluster {number} is stored as {_facts(rows[number])}, and is {_facts(expected[articles])}"
    known = set(stored.values())
    for articles in expected:
        if articles[0] not in unsettled and articles not in known:
            yield f"articles {_few(articles)} are one cluster, and are not stored as one"


def _few(articles: Sequence[int]) -> str:
    shown = ", ".join(map(str, articles[:5]))
    return shown if len(articles) <= 5 else f"{shown} and {len(articles) - 5:,} more"


def _facts(row: Cluster) -> str:
    return (
        f"{row.state}, {row.size} articles of {row.first_day} to {row.last_day}, article {row.kept_id} to keep, "
        f"text of {row.kept_text_id or row.kept_id}, "
        f"lowest score {row.lowest_score:.6f}"
    )


def _questions(_sample: Sample) -> Found:
    unsettled = _unsettled(_stored_members().values())
    if unsettled is None:
        return Found(waiting=_CHANGED)
    stored, expected = all_questions()
    subjects = sorted(
        (subject for subject in stored.keys() | expected.keys() if stored.get(subject) != expected.get(subject)),
        key=lambda subject: (subject[0] or 0, subject[1] or 0),
    )
    ends = _articles_of(subjects)
    return listed(
        _difference(subject, stored=subject in stored, expected=subject in expected)
        for subject in subjects
        if unsettled.isdisjoint(ends.get(subject, ()))
    )


def _difference(subject: Subject, *, stored: bool, expected: bool) -> str:
    pair, cluster = subject
    name = f"pair {pair}" if pair else f"cluster {cluster}"
    if stored and expected:
        return f"{name} is asked about, and its question says something else than is stored"
    return f"{name} waits, and no question covers it" if expected else f"{name} has a question, and nothing to ask"


def _articles_of(subjects: Collection[Subject]) -> dict[Subject, tuple[int, ...]]:
    """Return the two articles of each pair, and one of each cluster."""
    pairs = Pair.objects.in_bulk([pair for pair, _ in subjects if pair])
    members = Membership.objects.filter(cluster__in=[cluster for _, cluster in subjects if cluster])
    found: dict[Subject, tuple[int, ...]] = {(pk, None): (pair.left_id, pair.right_id) for pk, pair in pairs.items()}
    return found | {(None, cluster): (article,) for article, cluster in members.values_list("article", "cluster")}


def _counts(_sample: Sample) -> Found:
    expected, stored = expected_counts(), dict(QuestionCount.objects.values_list("tab", "number"))
    return listed(
        f"the tab {tab} has {expected.get(tab, 0):,} questions, and {stored.get(tab, 0):,} are counted"
        for tab in sorted(expected.keys() | stored.keys())
        if expected.get(tab, 0) != stored.get(tab, 0)
    )


INVARIANTS = (
    Invariant("pair-states", "The state of a pair is its last decision in force.", by(_STATES_SQL), _STATES_REPAIR),
    Invariant("implications", "What decisions imply is stored, and nothing else.", _implications, _STATES_REPAIR),
    Invariant("decisions-linked", "Each decision on a pair says what its articles are.", by(_LINKS_SQL, _ANSWERS)),
    Invariant("links-decided", "Each link is of a decision about both of its articles.", by(_LINKED_SQL)),
    Invariant(
        "undone",
        "Only decisions that can be undone are undone, and by later ones.",
        by(_UNDONE_SQL, {"never_undone": list(NEVER_UNDONE)}),
    ),
    Invariant("batches", "A batch has as many questions as it was begun with.", by(_BATCHES_SQL)),
    Invariant(
        "cluster-sizes", "A cluster has as many articles as it says, and keeps one of them.", by(_SIZES_SQL), FULL_RUN
    ),
    Invariant("clusters", "Clusters are what verdicts connect and decisions allow.", _clusters, FULL_RUN),
    Invariant("questions", "Each pair that waits is covered by one question.", _questions, FULL_RUN),
    Invariant("question-counts", "The tabs of the queue count its questions.", _counts, FULL_RUN),
)
