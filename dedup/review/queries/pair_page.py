"""The page of a pair: its two articles, its evidence, why it has its verdict, and why passes propose it or not."""

import dataclasses
import datetime
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, LiteralString, NamedTuple, TypeAlias

from django.db import connection
from django.db.models import Count

from articles.models import Article, in_order
from dedup.answers import PARTING
from dedup.detection.bounds import Rules, bounded, bounds_of, general_bounds, widened
from dedup.detection.clustering.doubts import DOUBTS_OF_PAIR_SQL, doubts_of_pair
from dedup.detection.comparison.differences import compare_headlines, compare_texts
from dedup.detection.comparison.evidence_marks import NO_MARKS, PairMarks, marks_of
from dedup.detection.comparison.located import compared_text
from dedup.detection.comparison.shown_text import MarkedText, Segment, passages
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import Explanation, PassConfig
from dedup.detection.passes.exact import ExactPass
from dedup.detection.runs.judging import JudgedNow, boilerplate_of_last_run, judge_now, judged_now
from dedup.detection.runs.profiles import configs_of, rules_of
from dedup.detection.types import Mark, VerdictKind, Window
from dedup.detection.verdicts.model import chance_of
from dedup.detection.verdicts.reasons import shares_of, steps_of
from dedup.detection.verdicts.verdict import kind_of
from dedup.models import CrowdedArticle, DenseGroup, DetectionRun, Evidence, Pair, Profile, Series, Verdict
from dedup.models.base import read_each, read_rows
from dedup.review.answers.decisions import cluster_of, decisions_on
from dedup.review.answers.history import implied_by, with_actors
from dedup.review.queries.articles import compared_texts, versions_of
from dedup.review.queries.clusters import conflict_between
from dedup.review.queries.series_and_groups import SERIES_OF_BOTH_SQL


class ClustersOf(NamedTuple):
    """The cluster ids of two articles."""

    left: int | None
    right: int | None

    @property
    def shared(self) -> bool:
        """Whether both are in the same cluster."""
        return self.left is not None and self.left == self.right


# What is stored about a pair elsewhere: the clusters of the earlier and the later article, the group of both, and
# whether the pair was read again, was decided, and has revisions. Most pairs have none of it: a statement each would
# take longer to make than to run.
_AROUND_SQL: LiteralString = """
SELECT
    (SELECT cluster_id FROM dedup_membership WHERE article_id = %(earlier)s),
    (SELECT cluster_id FROM dedup_membership WHERE article_id = %(later)s),
    (
        SELECT one.group_id
        FROM dedup_groupmember AS one
        JOIN dedup_groupmember AS other ON other.group_id = one.group_id AND other.article_id = %(right)s
        WHERE one.article_id = %(left)s
    ),
    EXISTS (SELECT FROM dedup_secondreading WHERE pair_id = %(pair)s),
    EXISTS (SELECT FROM dedup_link WHERE left_id = %(left)s AND right_id = %(right)s)
        OR EXISTS (SELECT FROM dedup_decision WHERE pair_id = %(pair)s),
    EXISTS (SELECT FROM articles_articlerevision WHERE article_id IN (%(left)s, %(right)s))
"""
_EVIDENCE_SQL: LiteralString = """
SELECT pass_name, score, details, stale, config, scope
FROM dedup_evidence AS evidence JOIN dedup_detectionrun AS run ON run.id = evidence.run_id
WHERE pair_id = %(pair)s
ORDER BY stale, score DESC, evidence.id
"""
_URLS_SQL: LiteralString = """
SELECT article_id, url, normalized_url FROM articles_articleurl WHERE article_id IN (%(left)s, %(right)s) ORDER BY id
"""
# Each URL of two articles with its normalized form, by the article.
Urls: TypeAlias = Mapping[int, Mapping[str, str]]


def _by_article(rows: Iterable[Sequence[Any]]) -> Urls:
    found: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for article, url, normalized in rows:
        found[article][url] = normalized
    return found


def urls_of(left: Article, right: Article) -> Urls:
    """Return the URLs of two articles."""
    return _by_article(read_rows(_URLS_SQL, left=left.pk, right=right.pk))


def pair_details(pair: Pair) -> dict[str, Any]:
    """Return what the page of a pair shows besides its two articles; the latest decision comes first."""
    ends = {"left": pair.left_id, "right": pair.right_id, "earlier": pair.earlier.pk, "later": pair.later.pk}
    statements = (_AROUND_SQL, _EVIDENCE_SQL, _URLS_SQL, SERIES_OF_BOTH_SQL, DOUBTS_OF_PAIR_SQL)
    around, found, urls, series, (doubted,) = read_each(*((asked, {"pair": pair.pk, **ends}) for asked in statements))
    ((earlier, later, group, read_again, is_decided, is_revised),) = around
    decisions = list(with_actors(decisions_on(pair)).order_by("-pk")) if is_decided else []
    own = [decision for decision in decisions if decision.pair_id == pair.pk]
    clusters = ClustersOf(earlier, later)
    joins = pair.joins and pair.best_score > 0 and pair.state not in [answer.state for answer in PARTING]
    evidence = [_evidence(pair, *row) for row in found]
    kept_apart = joins and not clusters.shared
    return {
        "evidence": evidence,
        "urls": _by_article(urls),
        "decisions": decisions,
        "implied_by": implied_by(pair),  # the decisions on other pairs that imply the state of this one
        "seen": decisions[0].pk if decisions else 0,
        "clusters": clusters,
        "kept_apart": kept_apart,  # joined by the verdict, but not by the clusters
        # What keeps them apart, if it is still there.
        "conflict": conflict_between(pair, clusters.left, clusters.right) if kept_apart else None,
        "series": Series.objects.get(pk=series[0][0]) if series else None,
        "group": DenseGroup.objects.get(pk=group) if group else None,
        # The decision that made a pair of them, if no pass ever proposed it.
        "declared": own[-1] if own and not evidence else None,
        "read_again": read_again,  # by a second editor
        "versions": versions_of(pair.earlier, pair.later) if is_revised else [],
        "doubts": doubts_of_pair(pair, doubted) if pair.verdict == Verdict.DUPLICATE else [],
    }


def _evidence(pair: Pair, pass_name: str, score: float, details: str, stale: bool, *run: str) -> Evidence:
    config, scope = map(json.loads, run)
    read = DetectionRun(config=config, scope=scope)
    return Evidence(pair=pair, pass_name=pass_name, score=score, details=json.loads(details), stale=stale, run=read)


def clusters_of(left_id: int, right_id: int) -> ClustersOf:
    """Return the clusters of two articles."""
    of = cluster_of([left_id, right_id])
    return ClustersOf(of.get(left_id), of.get(right_id))


class Side(NamedTuple):
    """One of the two articles, and the names of the facts in which it differs from the other."""

    name: str
    article: Article
    urls: list[str]
    words: int
    differs: frozenset[str]
    headline: list[Segment]
    text: MarkedText

    @property
    def passages(self) -> Iterator[Segment]:
        """The content in stretches, each marked or not."""
        return passages(self.text)


def side_by_side(left: Article, right: Article, found: PairMarks, urls: Urls) -> dict[str, Any]:
    """Compare the texts and the facts of two articles, the earlier one on the left; mark what a pass has found in both.

    `found` is by the articles as they are given.
    """
    if in_order(left, right) != (left, right):
        return side_by_side(right, left, PairMarks(found.right, found.left, found.shared), urls)
    texts = compared_texts((left, right))
    marked_texts = texts[0]._replace(found=found.left), texts[1]._replace(found=found.right)
    text = compare_texts(*marked_texts)
    differs = {
        "newspaper": left.newspaper_id != right.newspaper_id,
        "date": left.date != right.date or left.publication_time != right.publication_time,
        "words": text.left_words != text.right_words,
    }
    marked = frozenset(name for name, fact in differs.items() if fact)
    headline = compare_headlines(left.headline, right.headline)
    lefts = [segment for block in headline.blocks for segment in block.left]
    rights = [segment for block in headline.blocks for segment in block.right]
    return {
        "sides": [
            Side("First article", left, _urls(left, urls), text.left_words, marked, lefts, marked_texts[0]),
            Side("Second article", right, _urls(right, urls), text.right_words, marked, rights, marked_texts[1]),
        ],
        "text": text,
        "has_boilerplate": bool(left.boilerplate or right.boilerplate),
        "days_apart": abs((left.date - right.date).days),
        "headlines_differ": not headline.identical,
    }


def _urls(article: Article, urls: Urls) -> list[str]:
    return list(urls.get(article.pk, ())) or [article.url]


class MarkedEvidence(NamedTuple):
    """The marks of a pass and what they mean; `marked` is "" if nothing is marked."""

    marked: str = ""
    marked_note: str = ""
    marked_in: str = ""
    marks: PairMarks = NO_MARKS
    shared_urls: frozenset[str] = frozenset()


def markable() -> frozenset[str]:
    """Return the passes whose finds are marked: in the texts, or in the key that both articles have."""
    return frozenset(name for name, detection_pass in PASSES.items() if detection_pass.marked_note)


def marked_evidence(pair: Pair, evidence: Iterable[Evidence], name: str, urls: Urls) -> MarkedEvidence:
    """Return what the pass of this name found in the two articles of a pair; nothing if it did not propose the pair."""
    found = next((row for row in evidence if row.pass_name == name and name in markable()), None)
    if found is None:
        return MarkedEvidence()
    mark = PASSES[name].mark
    # The defaults where the run did not record what the pass had.
    settings = dataclasses.asdict(PASSES[name].config_class()) | found.run.config.get(name, {})
    if mark in (Mark.NOTHING, Mark.HEADLINE, Mark.URLS):
        note = PASSES[name].marked_note.format(**settings)
        return MarkedEvidence(name, note, mark.value, shared_urls=_shared_urls(urls))
    mode = found.run.boilerplate
    left, right = (compared_text(article.content, article.boilerplate, mode) for article in (pair.left, pair.right))
    marks = marks_of(mark, left, right, settings)
    return MarkedEvidence(name, _note(found, marks, settings), marks=marks)


def _note(found: Evidence, marks: PairMarks, settings: dict[str, Any]) -> str:
    if not marks.shared:
        return "nothing is left of it: the articles have changed since."
    note = PASSES[found.pass_name].marked_note.format(**settings)
    counted = found.details.get("shared")
    if isinstance(counted, int) and counted < marks.shared:
        most = settings["most_articles"]
        note += f" {counted:,} of these {marks.shared:,} count; the others are in more than {most:,} articles."
    return note


def _shared_urls(urls: Urls) -> frozenset[str]:
    times = Counter(reduced for known in urls.values() for reduced in set(known.values()))
    return frozenset(url for known in urls.values() for url, reduced in known.items() if times[reduced] > 1)


# Stored and calculated probabilities that differ by no more are the same.
_SAME = 0.005
_ASKED = {
    "duplicate": "Are they duplicates?",
    "template": "If not: is it one form with other facts?",
    "version": "If neither: are they versions of one article?",
}
# Of the questions after the first one, those that decide about a verdict.
_DECIDING = {
    VerdictKind.DUPLICATE: ("duplicate",),
    VerdictKind.TEMPLATE: ("duplicate", "template"),
    VerdictKind.VERSION: ("duplicate", "template", "version"),
    VerdictKind.SIMILAR: ("duplicate", "template", "version"),
}


def why(pair: Pair) -> dict[str, Any]:
    """Return what a pair's verdict rests on, as the next run would judge it; nothing if that cannot be calculated."""
    exact = pair.evidence.filter(pass_name=ExactPass.name, stale=False).first()
    now = judge_now(pair.left_id, pair.right_id, leftover=exact.details.get("leftover", 0) if exact else 0)
    if now is None:
        return {}
    probabilities = now.model.probabilities(now.features)
    by_model = kind_of(probabilities, now.model.threshold)
    judged = (now.judgement.kind, now.judgement.probability)
    labels = {kind.value: kind.value for kind in VerdictKind}
    return {
        "differs": _differs(pair, now),  # from what is stored
        "by_rule": "" if judged == by_model else now.judgement.reasons[0],  # why the model was not asked
        "threshold": now.model.threshold,
        "shares": shares_of(labels, [getattr(probabilities, kind) for kind in labels]),
        "waterfalls": [_waterfall(name, now) for name in _DECIDING[by_model[0]]],
    }


def _differs(pair: Pair, now: JudgedNow) -> bool:
    stored = (pair.probability or 0.0, pair.duplicate_probability or 0.0)
    calculated = (now.judgement.probability, now.judgement.duplicate_probability)
    apart = max(abs(one - other) for one, other in zip(stored, calculated, strict=True))
    return bool(pair.verdict) and (pair.verdict != now.judgement.kind or apart > _SAME)


def _waterfall(name: str, now: JudgedNow) -> dict[str, Any]:
    """Return the sum behind the answer to one question: its steps, and where their bars are on a scale of 0..100."""
    steps = steps_of(now.model, name, now.features)
    reached = [0.0, *(step.after for step in steps)]
    low, high = min(reached) - 0.5, max(reached) + 0.5

    def place(points: float) -> float:
        return 100 * (points - low) / (high - low)

    ends = [sorted((place(step.before), place(step.after))) for step in steps]
    return {
        "title": _ASKED[name],
        "bars": [(step, f"{x:.2f}", f"{end - x:.2f}") for step, (x, end) in zip(steps, ends, strict=True)],
        "half": f"{place(0):.2f}",  # where the chance is one half
        "points": steps[-1].after,
        "probability": chance_of(now.model.total(name, now.features)),
    }


class PassRow(NamedTuple):
    """What a pass says of two articles. `state`: proposed, next run, left out, or off in the profile."""

    name: str
    state: str
    why: str
    score: float | None
    threshold: float | None


class Explained(NamedTuple):
    """What every pass says of two articles, and what the full comparison says of them now."""

    profile: Profile
    rows: list[PassRow]
    judged: JudgedRow

    @property
    def verdict(self) -> str:
        """The name of the verdict, for the page."""
        return Verdict(self.judged.verdict).label

    @property
    def reasons(self) -> list[str]:
        """The reasons for the verdict."""
        reasons: list[str] = json.loads(self.judged.reasons)
        return reasons

    @property
    def proposing(self) -> int:
        """The number of passes that propose the two articles."""
        return sum(row.state == "proposed" for row in self.rows)


def explained(left: Article, right: Article, profile: Profile) -> Explained:
    """Return why the passes of a profile propose two articles, given in order of id, or not.

    Raises ProfileError if the settings of the profile are not valid. With the containment or the sentence pass it reads
    the shingles of all articles.
    """
    configs, rules = configs_of(profile.settings), rules_of(profile)
    window = _window()
    evidence = Evidence.objects.filter(pair__left=left, pair__right=right, stale=False)
    proposed = set(evidence.values_list("pass_name", flat=True))
    hubs = CrowdedArticle.objects.filter(article__in=(left, right)).values_list("pass_name")
    hubs_in = {name for name, number in hubs.annotate(Count("pk")) if number == 2}
    found = {name: _explanation(name, config, rules, window, left, right) for name, config in configs.items()}
    rows = [
        _row(name, configs[name], said, profile, is_stored=name in proposed, is_crowded=name in hubs_in)
        for name, said in found.items()
    ]
    return Explained(profile, rows, judgement_now(left, right, profile))


def _explanation(
    name: str, config: PassConfig, rules: Rules, window: Window, left: Article, right: Article
) -> Explanation:
    """Return why a pass proposes two articles, by the bounds of their newspapers."""

    def explain(by: PassConfig) -> Explanation:
        return PASSES[name].explain(left.pk, right.pk, window, by, connection)

    bounds = bounds_of(name, config, rules, left.newspaper_id, right.newspaper_id)
    own = explain(bounded(config, bounds))
    if bounds.left_out:
        return dataclasses.replace(own, proposed=False, why="A rule of the profile leaves out these newspapers.")
    if bounds == general_bounds(config) and not rules:
        return own
    # The pass runs at the loosest bounds of all rules; pairs outside their own ones are left out then.
    loosest = explain(widened(name, config, rules))
    proposed = loosest.proposed and bounds.allow(loosest.score or 0.0, abs((left.date - right.date).days))
    said = own if own.proposed == proposed else loosest
    ruled = bounds != general_bounds(config)
    why = f"{said.why} A rule of the profile sets other bounds for these newspapers." if ruled else said.why
    return dataclasses.replace(said, proposed=proposed, why=why, threshold=own.threshold)


def judgement_now(left: Article, right: Article, profile: Profile) -> JudgedRow:
    """Return the verdict that a run with this profile would give two articles, given in order of id.

    Raises ProfileError if the settings of the profile are not valid.
    """
    window, exact = _window(), configs_of(profile.settings)[ExactPass.name]
    leftover = 0
    if exact.enabled:
        found = PASSES[ExactPass.name].explain(left.pk, right.pk, window, exact, connection)
        leftover = found.evidence.get("leftover", 0)
    return judged_now(left.pk, right.pk, boilerplate=window.boilerplate, leftover=leftover)


def _window() -> Window:
    """Return all days, with or without boilerplate as the last run compared."""
    return Window(datetime.date.min, datetime.date.max, boilerplate=boilerplate_of_last_run())


def _row(
    name: str, config: PassConfig, found: Explanation, profile: Profile, *, is_stored: bool, is_crowded: bool
) -> PassRow:
    state, why = "left out", found.why
    if is_stored:
        state = "proposed"
        if not (found.proposed and config.enabled):
            why = f"The last run proposed them. With the settings and articles of now it would not: {why}"
    elif not config.enabled:
        state = "off"
        why = f"Off in the profile “{profile}”. {why}"
    elif found.proposed and is_crowded:
        why = f"{why} But both are in a dense group, of which only the most similar pairs are kept."
    elif found.proposed:
        state, why = "next run", f"{why} No run has proposed them so far; the next run over these days will."
    return PassRow(name, state, why, found.score, found.threshold)
