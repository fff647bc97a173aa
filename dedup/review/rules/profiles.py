"""Profiles: their list, their writer, and what the settings of one would do with the pairs found so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.urls import reverse

from articles.jobs.work import ask
from dedup.detection.bounds import general_bounds, widened
from dedup.detection.clustering.joins import same_as
from dedup.detection.clustering.questions import update_questions
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig
from dedup.detection.runs.facts import RuleFacts, rule_facts
from dedup.detection.runs.profiles import Configs, ProfileError, configs_of, enabled, rules_of
from dedup.detection.runs.requests import schedule_nightly
from dedup.models import Profile, ProfileRule
from dedup.models.base import read_rows

_COPIED = (*ProfileRule.SIDES, "settings", "left_out", "retired")


def save_profile(
    profile: Profile, *, rules_of: Profile | None = None, reschedule: bool = False, user: Any = None
) -> bool:
    """Store a profile. A new default replaces the old one; a copy also gets the rules of the profile that it copies.

    `reschedule`: the time of its nightly run has changed. If the new default asks about other pairs, the queue follows;
    if it counts something else as the same, a worker is asked to rebuild the clusters. Return whether one is.
    """
    with transaction.atomic():
        asked_from, before = _asked_from(), same_as()
        if profile.is_default:
            Profile.objects.exclude(pk=profile.pk).filter(is_default=True).update(is_default=False)
        profile.save()
        if rules_of is not None:
            copies = [{name: getattr(rule, name) for name in _COPIED} for rule in rules_of.rules.all()]
            ProfileRule.objects.bulk_create(ProfileRule(profile=profile, **values) for values in copies)
        if reschedule:
            schedule_nightly(profile)
        if _asked_from() != asked_from:
            update_questions(None)
        if is_asked := same_as() is not before:
            title, page = f"Clusters by what profile {profile.name} counts as the same", reverse("clusters")
            ask("clusters", {}, title=title, user=user, page=page, even_if_running=True)
    return is_asked


def _asked_from() -> float | None:
    return Profile.objects.filter(is_default=True).values_list("asked_from", flat=True).first()


# Bars from 0 to 1, and the size of the picture in its own units.
BARS = 50
WIDTH, HEIGHT = 500, 90
# No score reaches it: a pass that is off keeps nothing.
_NONE = 2.0

# Current evidence by pass and score, each place being a fiftieth. Few pairs are decided or outside the windows: asking
# for those apart spares a join of a million rows.
_SCORES_SQL = """
SELECT evidence.pass_name, least(floor(evidence.score * 50), 49)::int, count(*),
       count(*) FILTER (WHERE evidence.score >= line.lowest_score)
FROM dedup_evidence AS evidence
JOIN unnest(%(names)s::text[], %(lowest)s::float8[]) AS line (name, lowest_score) ON line.name = evidence.pass_name
WHERE NOT evidence.stale
GROUP BY 1, 2
"""
_TOO_FAR_SQL = """
SELECT evidence.pass_name, count(*)
FROM dedup_pair AS pair
JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
JOIN unnest(%(names)s::text[], %(lowest)s::float8[], %(days)s::float8[]) AS line (name, lowest_score, most_days)
    ON line.name = evidence.pass_name
WHERE NOT evidence.stale AND evidence.score >= line.lowest_score AND pair.days_apart > line.most_days
GROUP BY 1
"""
# By the index pair_queue.
_DECIDED_SQL = """
SELECT evidence.pass_name,
       count(*) FILTER (WHERE pair.state = 'confirmed'),
       count(*) FILTER (WHERE pair.state = 'rejected')
FROM dedup_pair AS pair
JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
JOIN unnest(%(names)s::text[], %(lowest)s::float8[], %(days)s::float8[]) AS line (name, lowest_score, most_days)
    ON line.name = evidence.pass_name
WHERE pair.state IN ('confirmed', 'rejected') AND NOT pair.implied AND NOT evidence.stale
  AND NOT (evidence.score >= line.lowest_score AND pair.days_apart <= line.most_days)
GROUP BY 1
"""
# What is not kept and no other pass has found.
_ALONE_SQL = """
SELECT evidence.pass_name, count(*)
FROM dedup_evidence AS evidence
JOIN dedup_pair AS pair ON pair.id = evidence.pair_id
JOIN unnest(%(names)s::text[], %(lowest)s::float8[], %(days)s::float8[]) AS line (name, lowest_score, most_days)
    ON line.name = evidence.pass_name
WHERE NOT evidence.stale
  AND NOT (evidence.score >= line.lowest_score AND pair.days_apart <= line.most_days)
  AND NOT EXISTS (
      SELECT FROM dedup_evidence AS other
      WHERE other.pair_id = evidence.pair_id AND other.pass_name <> evidence.pass_name AND NOT other.stale
  )
GROUP BY 1
"""


@dataclass
class PassEffect:
    """What a pass has found so far, and what of it the settings of a form would find again.

    `lost` counts pairs that editors confirmed and the settings would not find, `spared` those that they rejected,
    `alone` those that no other pass has found.
    """

    line: float | None = None
    in_use: bool = True
    found: int = 0
    kept: int = 0
    lost: int = 0
    spared: int = 0
    alone: int = 0
    by_place: dict[int, int] = field(default_factory=dict)

    @property
    def rest(self) -> int:
        """The pairs that the settings would not find."""
        return self.found - self.kept

    @property
    def line_x(self) -> float:
        """The place of the line in the picture."""
        return (self.line or 0.0) * WIDTH

    @property
    def bars(self) -> list[tuple[int, int, int, int, bool]]:
        """The place, the size, and whether it is kept, of each bar from left to right, in the units of the picture.

        The heights are square roots, so that small numbers can be seen.
        """
        most = max(self.by_place.values(), default=1)
        width, line = WIDTH // BARS, self.line or 0.0
        heights = {place: max(2, round(HEIGHT * (count / most) ** 0.5)) for place, count in self.by_place.items()}
        return [
            # Any score of a bar that is kept is not below the line.
            (place * width, HEIGHT - height, width - 1, height, self.in_use and (place + 1) / BARS > line)
            for place, height in sorted(heights.items())
        ]


def effects(configs: Configs) -> dict[str, PassEffect]:
    """Return for every pass what these settings would do. Reads all current evidence: seconds for a million pairs."""
    bounds = {name: general_bounds(config) for name, config in configs.items()}
    parameters: dict[str, Any] = {
        "names": list(configs),
        "lowest": [bounds[name].lowest_score if configs[name].enabled else _NONE for name in configs],
        "days": [bounds[name].most_days for name in configs],
    }
    found = {name: PassEffect(getattr(config, "threshold", None), config.enabled) for name, config in configs.items()}
    for name, place, count, kept in read_rows(_SCORES_SQL, **parameters):
        found[name].by_place[place] = count
        found[name].found += count
        found[name].kept += kept
    for name, count in read_rows(_TOO_FAR_SQL, **parameters):
        found[name].kept -= count
    for name, lost, spared in read_rows(_DECIDED_SQL, **parameters):
        found[name].lost, found[name].spared = lost, spared
    if any(effect.rest for effect in found.values()):
        for name, alone in read_rows(_ALONE_SQL, **parameters):
            found[name].alone = alone
    return found


def passes_in_use(profile: Profile) -> tuple[list[str], str]:
    """Return the labels of the passes of a profile, and why it cannot be used; empty if it can."""
    try:
        return [PASSES[name].label for name in enabled(configs_of(profile.settings))], ""
    except ProfileError as error:
        return [], str(error)


def rule_rows(profile: Profile) -> list[tuple[int, RuleFacts]]:
    """Return the number of each rule of a profile, and the rule in words."""
    numbers = profile.rules.values_list("pk", flat=True)
    return [(pk, rule_facts(rule.stored())) for pk, rule in zip(numbers, rules_of(profile), strict=True)]


def widenings(profile: Profile, configs: Mapping[str, PassConfig]) -> list[str]:
    """Return the labels of the passes that rules make look further for all newspapers."""
    rules = rules_of(profile)
    return [
        PASSES[name].label
        for name, config in configs.items()
        if config.enabled and general_bounds(widened(name, config, rules)) != general_bounds(config)
    ]
