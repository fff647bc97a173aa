"""The pairs of one pass, with their scores and what their articles have in common, in a temporary table.

They are those that runs have stored, if the last run had the pass find all that a report asks for. Else the pass is run
afresh, and nothing of what it finds is stored.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, LiteralString

from django.db import connection, transaction

from articles.boilerplate.mode import Mode
from articles.models import Article
from articles.numbers import counted
from dedup.answers import PARTED_STATES
from dedup.declarations import SettingEffect, Settings, setting, settings_of
from dedup.detection.article_sql import article_sql
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig
from dedup.detection.runs.blocks import find_with
from dedup.detection.runs.profiles import ProfileError, configs_of, default_profile
from dedup.detection.runs.scope import Scope, earlier_runs
from dedup.detection.types import Tally
from dedup.models import CrowdedArticle, DetectionRun
from dedup.reports.base import ReportError
from dedup.reports.columns import column
from dedup.rows.columns import ColumnType

# A pass whose setting allows so many days apart has no window.
NO_WINDOW = 36_500
# Bands of scores are 5 hundredths wide, and the highest begins here, as in a study of a Google Alerts feed.
TOP_BAND = 0.95
_STEPS_OF_ONE = 20
_COPIED_AT_ONCE = 10_000

_FOUND_SQL = """
CREATE TEMPORARY TABLE found_pair (left_id bigint, right_id bigint, score double precision) ON COMMIT DROP
"""
_COPY_SQL = "COPY found_pair (left_id, right_id, score) FROM STDIN"
# Relies on the index evidence_run.
_STORED_SQL = article_sql(
    """
INSERT INTO found_pair
SELECT pair.left_id, pair.right_id, evidence.score
FROM dedup_evidence AS evidence
JOIN dedup_pair AS pair ON pair.id = evidence.pair_id
{pair.both_articles}
WHERE evidence.run_id = ANY (%(runs)s)
  AND evidence.pass_name = %(pass_name)s
  AND NOT evidence.stale
  AND evidence.score::real >= %(lowest)s::real
  AND pair.days_apart <= %(most_days)s
  AND {pair.in_scope}
"""
)
_CREATE_SQL = """
CREATE TEMPORARY TABLE scored_pair (
    left_id bigint, right_id bigint, pair_id bigint, score double precision, band smallint,
    days integer, hours double precision, same_newspaper boolean,
    same_headline boolean, same_text boolean, confirmed boolean
) ON COMMIT DROP
"""
# Bands are numbered upwards from 1. Scores are compared in single precision, which the trigram pass has. What editors
# decided about other pairs, and a version, are neither for a pair nor against it.
_DESCRIBE_SQL = article_sql(
    """
INSERT INTO scored_pair
SELECT found.left_id, found.right_id, stored.id, found.score,
       width_bucket(found.score::real, %(edges)s::real[]),
       abs(left_article.date - right_article.date),
       abs(extract(epoch FROM left_article.published_at - right_article.published_at)) / 3600,
       left_article.newspaper_id = right_article.newspaper_id,
       left_article.normalized_title <> '' AND left_article.normalized_title = right_article.normalized_title,
       coalesce(left_article.text_digest = right_article.text_digest, false),
       CASE WHEN stored.implied THEN NULL
            WHEN stored.state = 'confirmed' THEN true
            WHEN stored.state = ANY (%(parted)s) THEN false END
FROM found_pair AS found
{pair.both_articles}
LEFT JOIN dedup_pair AS stored ON stored.left_id = found.left_id AND stored.right_id = found.right_id
""",
    pair="found",
)


@dataclass(frozen=True, slots=True)
class PassOptions(Settings):
    """Which pass, and the lowest score that is looked at."""

    pass_: str = setting(
        "containment",
        help="Whose pairs are counted.",
        unit="a pass",
        source="a choice: it is part of every run, and can compare articles however far apart",
        choices=tuple(PASSES),
    )
    lowest: float = setting(
        0.0,
        help="The lowest score that is counted; 0 means the lowest score of the pass's settings.",
        unit="as a score",
        source="a choice: what runs have found is counted without running the pass again",
        range=(0.0, TOP_BAND),
        label="Lowest score",
    )


@dataclass(frozen=True, slots=True)
class PassPairs:
    """The pairs of a pass that a report counts.

    `run` is the run that found them, and `newer` how many articles came or changed since it. If it is None, the pass
    is run afresh with the settings of `config`, and `why` says why.
    """

    pass_name: str
    lowest: float
    config: PassConfig
    boilerplate: Mode
    run: int | None = None
    why: str = ""
    newer: int = 0


@dataclass(frozen=True, slots=True)
class CountedPairs:
    """What a result says of its pairs: `run` is the run that found them; without one, the pass was run afresh, and
    `why` says why. Of `dense_articles`, those in dense groups, some pairs are lacking.
    """

    pass_name: str
    run: int | None
    why: str
    newer: int
    articles: int
    dense_articles: int


@dataclass(frozen=True, slots=True)
class OfBand:
    """What is counted of the scores from `lowest` up to `highest`, which belongs to the band above, except 1."""

    lowest: Annotated[float, column("Score", ColumnType.TEXT, named="band", shown="label")]
    highest: float

    @property
    def label(self) -> str:
        """Return the band in words."""
        return f"{self.lowest:.2f}–{self.highest:.2f}"


def edges_of(lowest: float) -> list[float]:
    """Return where the bands begin, in descending order: .95, .90, .85 and so on, and at last `lowest`."""
    steps = range(round(TOP_BAND * _STEPS_OF_ONE), -1, -1)
    return [*(step / _STEPS_OF_ONE for step in steps if step / _STEPS_OF_ONE > lowest), lowest]


def bands_of(edges: Sequence[float]) -> Iterator[tuple[int, float, float]]:
    """Yield the number of each band in the table scored_pair, its lowest and its highest score; the highest first."""
    for place, (lowest, highest) in enumerate(zip(edges, [1.0, *edges], strict=False)):
        yield len(edges) - place, lowest, highest


def has_no_window(pass_name: str) -> bool:
    """Return whether the pass can compare articles however far apart they are."""
    name = bound_named(pass_name, SettingEffect.WITHIN_DAYS)
    return name is None or (settings_of(PASSES[pass_name].config_class)[name][1].maximum or 0) >= NO_WINDOW


def pass_pairs(options: PassOptions, *, any_time: bool) -> PassPairs:
    """Return which pairs of the pass are counted; with `any_time` those however far apart.

    Settings are those of the last finished run over all articles that had the pass, or else those of the default
    profile. Raises ReportError.
    """
    name = options.pass_
    run, why = _last_run(name)
    used, boilerplate = _settings_of(name, run)
    config = _asked(name, used, options.lowest, any_time=any_time)
    lowest = _bound(name, config, SettingEffect.FROM_SCORE)
    if run is not None:
        why = _lacking(name, used, run, config)
    if run is None or why:
        return PassPairs(name, lowest, config, boilerplate, why=why)
    newer = Article.objects.filter(revision__gt=run.counts.get("newest") or 0).count()
    return PassPairs(name, lowest, config, boilerplate, run.pk, newer=newer)


def _last_run(name: str) -> tuple[DetectionRun | None, str]:
    """Return the last finished run over all articles that had the pass; or None, and why there is none to count."""
    later: dict[str, Any] | None = None
    for run in DetectionRun.objects.order_by("-pk").only("config", "scope", "state", "counts").iterator(100):
        used = run.config.get(name, {})
        done = run.state == DetectionRun.State.DONE
        if not used.get("enabled"):
            if done and run.scope.get("passes") is None and used.get("retired", True):
                return None, f"run {run.pk} has hidden what earlier runs found"
        elif done and not any(run.scope.get(bound) for bound in ("since", "until", "newspapers")):
            if later not in (None, used):
                return None, "a later run of some articles, or an unfinished one, had other settings"
            return run, ""
        else:
            later = later or used
    return None, "no finished run over all articles had this pass"


def _settings_of(name: str, run: DetectionRun | None) -> tuple[PassConfig, Mode]:
    """Return the settings that the run had, or those of the default profile. Raises ReportError."""
    try:
        if run is None:
            profile = default_profile()
            return configs_of(profile.settings)[name], Mode(profile.boilerplate)
        known = settings_of(PASSES[name].config_class)
        used = {setting_name: value for setting_name, value in run.config[name].items() if setting_name in known}
        return configs_of({name: used})[name], run.boilerplate
    except ProfileError as error:
        raise ReportError(str(error)) from error


def _asked(name: str, used: PassConfig, lowest: float, *, any_time: bool) -> PassConfig:
    """Return the settings that find what the report asks for. Raises ReportError if the pass cannot find it."""
    changes: dict[str, Any] = {}
    score, days = (bound_named(name, effect) for effect in (SettingEffect.FROM_SCORE, SettingEffect.WITHIN_DAYS))
    if lowest and score:
        minimum = settings_of(type(used))[score][1].minimum or 0.0
        if lowest < minimum:
            raise ReportError(
                f"lowest is {lowest:g}; the pass {name} finds no pairs below {minimum:g}: choose {minimum:g} to "
                f"{TOP_BAND:g}, or 0 for the lowest score of its settings"
            )
        changes[score] = lowest
    if any_time and days:
        changes[days] = NO_WINDOW
    return dataclasses.replace(used, **changes)


def _lacking(name: str, used: PassConfig, run: DetectionRun, asked: PassConfig) -> str:
    """Return why the pairs of the run are not all that is asked for; empty if they are."""
    if run.scope.get("rules"):
        return f"run {run.pk} had rules for some newspapers"
    if _bound(name, used, SettingEffect.FROM_SCORE) > _bound(name, asked, SettingEffect.FROM_SCORE):
        return f"run {run.pk} found pairs from {_bound(name, used, SettingEffect.FROM_SCORE):g} on"
    if _bound(name, used, SettingEffect.WITHIN_DAYS) < _bound(name, asked, SettingEffect.WITHIN_DAYS):
        days = round(_bound(name, used, SettingEffect.WITHIN_DAYS))
        return f"run {run.pk} compared articles up to {counted(days, 'day')} apart"
    return ""


def _bound(name: str, config: PassConfig, effect: SettingEffect) -> float:
    """Return the lowest score of the settings, or the most days; a pass without one has only the highest score."""
    bound = bound_named(name, effect)
    most = TOP_BAND if effect is SettingEffect.FROM_SCORE else NO_WINDOW
    return most if bound is None else min(float(getattr(config, bound)), most)


def source_sentences(result: CountedPairs) -> Iterator[str]:
    """Say which run found the pairs that were counted, and what it does not know."""
    if result.run is None:
        yield f"The pass was run for this report, and nothing was stored, because {result.why}."
    else:
        yield f"These are the pairs of run {result.run}."
    if result.newer:
        yield f"Articles that came or changed after it, and are not compared yet: {result.newer:,}."
    if result.dense_articles:
        yield f"Articles in dense groups, of which only some pairs are kept: {result.dense_articles:,}."


@contextmanager
def scored(which: PassPairs, scope: Scope) -> Iterator[tuple[Any, tuple[str, int | None, str, int, int, int]]]:
    """Fill the table scored_pair; give a cursor, and what CountedPairs says of the pairs, in its order.

    The later article of each pair is of the scope's days, and both are of its newspapers. The table is dropped at the
    end. Memory holds some thousand pairs, whatever their number.
    """
    articles = Article.objects.in_scope(**scope.bounds()).order_by()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_FOUND_SQL)
        if which.run is None:
            dense = len(copy_fresh(cursor, _COPY_SQL, which, scope))
        else:
            crowded = CrowdedArticle.objects.filter(pass_name=which.pass_name)
            dense = crowded.filter(article__in=articles.values("pk")).count()
            cursor.execute(_STORED_SQL, _stored_parameters(which, scope))
        cursor.execute(_CREATE_SQL)
        cursor.execute(_DESCRIBE_SQL, {"edges": edges_of(which.lowest)[::-1], "parted": PARTED_STATES})
        cursor.execute("DROP TABLE found_pair")
        cursor.execute("ANALYZE scored_pair")
        yield cursor, (which.pass_name, which.run, which.why, which.newer, articles.count(), dense)
        cursor.execute("DROP TABLE scored_pair")


def copy_fresh(cursor: Any, statement: LiteralString, which: PassPairs, scope: Scope) -> frozenset[int]:
    """Run the pass, and copy its pairs by a statement; return the articles in dense groups."""
    tally = Tally()
    fresh = dataclasses.replace(scope, passes=(which.pass_name,), boilerplate=which.boilerplate)
    found = find_with(which.pass_name, which.config, fresh, tally)
    # In batches, because the pass runs queries on the same connection between them.
    while batch := list(islice(found, _COPIED_AT_ONCE)):
        with cursor.copy(statement) as copy:
            for candidate in batch:
                copy.write_row((candidate.left, candidate.right, candidate.score))
    return frozenset(tally.hubs)


def _stored_parameters(which: PassPairs, scope: Scope) -> Mapping[str, Any]:
    runs = earlier_runs(which.pass_name, which.config, Scope(boilerplate=which.boilerplate))
    return {
        "runs": [*runs.same, *runs.comparable],
        "pass_name": which.pass_name,
        "lowest": which.lowest,
        "most_days": _bound(which.pass_name, which.config, SettingEffect.WITHIN_DAYS),
        **scope.bounds(),
    }
