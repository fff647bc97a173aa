"""The scope of a run: which articles it compares, and the blocks of days that each pass works through."""

import dataclasses
import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from django.db.models import Count, Exists, Max, Min, OuterRef, Q

from articles.boilerplate.mode import Mode
from articles.models import Article, ArticleWords, Newspaper
from articles.querysets import days_fault
from articles.storage.boilerplate_marks import outdated_weeks
from articles.storage.renormalization import newspapers_to_renormalize
from articles.storage.search_index import checked, having_words, narrowed_to
from dedup.declarations import SettingEffect, settings_of
from dedup.detection.bounds import Bounds, Rules, bounds_of, general_bounds, widened
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import NearConfig, PassConfig, Reach
from dedup.detection.runs.profiles import Configs, enabled
from dedup.detection.types import Window
from dedup.models import DetectionRun, Evidence

# A block of days ends once it has this many articles, which bounds its memory and the work repeated after a crash.
BLOCK_ARTICLES = 12_000
# Where a block also reads the days of a window before it, it is larger: less is read twice.
JOINED_ARTICLES = 40_000


def found_by(words: str) -> frozenset[int]:
    """Return the articles that a search by words finds. Raises SearchError."""
    asked = checked(words)
    having = Q(pk__in=ArticleWords.objects.filter(having_words(asked)).values("pk")) if asked.words else Q()
    return frozenset(Article.objects.filter(having, narrowed_to(asked)).order_by().values_list("pk", flat=True))


class ScopeError(ValueError):
    """The articles to compare cannot be chosen this way; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The pairs that a run covers; None means no bound.

    The later article of a pair was published from `since` to `until`, both included. The earlier one may be older than
    `since`, so that a run from a day on finds the same pairs from that day on as a full run. Both are from newspapers
    in `newspaper_ids`. With `newer_than`, each pair of a pass has an article with a higher revision than the one given
    for the pass; passes without one compare everything. In the `unchanged` passes no pair has changed since a run that
    compared everything. The `touched` passes go on from such a run (runs/growth.py): the pairs of these articles may
    have changed, too. In passes of `begins`, no pair whose later article is older than the day has changed. A run of
    some `passes` leaves the evidence of the others as it is; one of all (None) also marks the evidence of retired
    passes as stale. Texts are compared with or without their
    `boilerplate`. Reports and exports take only articles that a search by `words` `found`, if there is one; runs have
    none. The `rules` of the profile bound the pairs of some newspapers in another way than its settings.
    """

    since: datetime.date | None = None
    until: datetime.date | None = None
    newspaper_ids: tuple[int, ...] | None = None
    passes: tuple[str, ...] | None = None
    newer_than: Mapping[str, int] | None = None
    boilerplate: Mode = Mode.KEEP
    rules: Rules = ()
    unchanged: frozenset[str] = frozenset()
    touched: Mapping[str, Sequence[int]] = field(default_factory=dict)
    begins: Mapping[str, datetime.date] = field(default_factory=dict)
    words: str = ""
    found: frozenset[int] | None = None

    def __post_init__(self) -> None:
        if fault := days_fault(self.since, self.until):
            raise ScopeError(fault)
        if self.words and self.found is None:
            object.__setattr__(self, "found", found_by(self.words))

    def stored(self) -> dict[str, Any]:
        """Return the scope in the form stored with a run."""
        newspapers = Newspaper.objects.filter(pk__in=self.newspaper_ids or ()).values_list("name", flat=True)
        return {
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            "newspapers": None if self.newspaper_ids is None else sorted(newspapers),
            "passes": None if self.passes is None else list(self.passes),
            "newer_than": None if self.newer_than is None else dict(self.newer_than),
            "boilerplate": self.boilerplate.value,
            "rules": [rule.stored() for rule in self.rules],
        }

    def bounds(self) -> dict[str, Any]:
        """Return the days, the newspapers and what a search found, as the parameters of an SQL statement."""
        ids, found = (None if chosen is None else list(chosen) for chosen in (self.newspaper_ids, self.found))
        return {"since": self.since, "until": self.until, "newspaper_ids": ids, "found": found}

    def covered(self, pass_name: str) -> dict[str, Any]:
        """Return which pairs a run covers in this pass, as the parameters of an SQL statement."""
        reach = PASSES[pass_name].reach
        only_new = reach is Reach.PAIR or pass_name in self.unchanged or pass_name in self.touched
        return {
            **self.bounds(),
            "since": None if reach is Reach.STORE else self.since or self.begins.get(pass_name),
            "newer_than": (self.newer_than or {}).get(pass_name) if only_new else None,
            "touched": list(self.touched.get(pass_name, ())),
        }


@dataclass(frozen=True, slots=True)
class Block:
    """A block of days, the first and the last included, and its number of articles."""

    first_day: datetime.date
    last_day: datetime.date
    articles: int


def only_new(scope: Scope, configs: Configs) -> Scope:
    """Return the scope without the pairs that each pass has already compared.

    A pass is not restricted if no finished run over all articles used its settings, or if a later run with other
    settings has changed the results. Any article that was added, changed or removed since that run may change what a
    pass finds that looks at all of them.
    """
    compared = {
        name: _last_compared(name, dataclasses.asdict(config), scope) for name, config in enabled(configs).items()
    }
    runs = {name: run for name, run in compared.items() if run is not None}
    newer_than = {name: run.counts["newest"] for name, run in runs.items() if "newest" in run.counts}
    scope = dataclasses.replace(scope, newer_than=newer_than)
    if not newer_than or scope.until or scope.newspaper_ids is not None or texts_will_change(scope):
        return scope
    now = state_of_articles(scope)
    same = [name for name in newer_than if runs[name].counts.get("fingerprint") == now]
    # A later run that used the pass may have been stopped, or had another scope.
    later = {name: DetectionRun.objects.filter(pk__gt=runs[name].pk, blocks__pass_name=name) for name in newer_than}
    last = [name for name in newer_than if not later[name].exists()]
    begins = {name: _first_fresh(runs[name]) for name in last if PASSES[name].reach is Reach.WINDOW}
    return dataclasses.replace(
        scope,
        unchanged=frozenset(last).intersection(same),
        begins={name: day for name, day in begins.items() if day is not None},
    )


def _first_fresh(run: DetectionRun) -> datetime.date | None:
    """Return the first day of the articles stored since a run; None if there are none, or if others changed or went."""
    known, newest = run.counts.get("fingerprint", (None, run.counts["newest"]))  # an old run may have no count
    facts = Article.objects.filter(revision__gt=newest).aggregate(count=Count("id"), first=Min("date"))
    is_grown = Article.objects.count() - facts["count"] == known
    first: datetime.date | None = facts["first"]
    return first if is_grown else None


def texts_will_change(scope: Scope) -> bool:
    """Return whether a run brings articles up to date before it compares them, up to the scope's end."""
    if newspapers_to_renormalize():
        return True
    return scope.boilerplate is not Mode.KEEP and bool(outdated_weeks(scope.newspaper_ids, until=scope.until))


def _last_compared(name: str, config: dict[str, Any], scope: Scope) -> DetectionRun | None:
    """Return the last run that has compared all articles by this pass with these settings and rules."""
    for run in DetectionRun.objects.order_by("-pk").only("config", "scope", "state", "counts").iterator(100):
        used = run.config.get(name, {})
        done = run.state == DetectionRun.State.DONE
        if not used.get("enabled"):
            # Runs of before the setting retired every pass that they left out.
            if done and run.scope["passes"] is None and used.get("retired", True):
                return None  # it has marked all evidence of this pass as stale
            continue
        if {"retired": False, **used} != config or run.boilerplate is not scope.boilerplate:
            return None
        if run.scope.get("rules", []) != scope.stored()["rules"]:
            return None
        whole = not any(run.scope[bound] for bound in ("since", "until", "newspapers"))
        if done and whole:
            return run
    return None


def blocks_of(scope: Scope) -> list[Block]:
    """Return the days of the scope that have articles, as blocks of at least BLOCK_ARTICLES articles, in order."""
    stored = Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids).order_by("date")
    blocks: list[Block] = []
    first, articles = None, 0
    for day, count in stored.values_list("date").annotate(count=Count("id")):
        first = first or day
        articles += count
        if articles >= BLOCK_ARTICLES:
            blocks.append(Block(first, day, articles))
            first, articles = None, 0
    if first is not None:
        blocks.append(Block(first, day, articles))
    return blocks


def blocks_for(pass_name: str, config: PassConfig, blocks: list[Block], scope: Scope) -> list[Block]:
    """Return the blocks for a pass: the given ones, one for all their days, or one for the whole store."""
    detection_pass = PASSES[pass_name]
    if pass_name in scope.unchanged and detection_pass.reach is Reach.STORE:
        return []
    if detection_pass.reach is Reach.STORE and scope.since is not None:
        blocks = blocks_of(dataclasses.replace(scope, since=None))
    if detection_pass.by_days and detection_pass.reach is Reach.STORE:
        blocks = list(_joined(blocks, _day_window(pass_name, config, scope)))
    if begin := scope.covered(pass_name)["since"]:
        blocks = [
            dataclasses.replace(block, first_day=max(block.first_day, begin))
            for block in blocks
            if block.last_day >= begin
        ]
    if not detection_pass.by_days and blocks:
        blocks = [Block(blocks[0].first_day, blocks[-1].last_day, sum(block.articles for block in blocks))]
    newer_than = scope.covered(pass_name)["newer_than"]
    if newer_than is None:
        return blocks
    fresh = Article.objects.in_scope(None, scope.until, scope.newspaper_ids).filter(revision__gt=newer_than)
    days = [day.toordinal() for day in fresh.order_by("date").values_list("date", flat=True).distinct()]
    day_window = _day_window(pass_name, config, scope)
    return [trimmed for block in blocks if (trimmed := _trimmed(block, days, day_window))]


def _joined(blocks: Sequence[Block], day_window: int) -> Iterator[Block]:
    """Yield blocks of at least JOINED_ARTICLES articles and so many days, but for the last."""
    begin = articles = 0
    for end, last in enumerate(blocks, start=1):
        articles += last.articles
        long = (last.last_day - blocks[begin].first_day).days >= day_window
        if end == len(blocks) or (long and articles >= JOINED_ARTICLES):
            yield Block(blocks[begin].first_day, last.last_day, articles)
            begin, articles = end, 0


def _day_window(pass_name: str, config: PassConfig, scope: Scope) -> int:
    return cast("NearConfig", widened(pass_name, config, scope.rules)).day_window


def window_of(pass_name: str, block: Block, scope: Scope) -> Window:
    """Return the window of a pass for a block."""
    newer_than = scope.covered(pass_name)["newer_than"]
    return Window(block.first_day, block.last_day, scope.newspaper_ids, newer_than, scope.boilerplate)


def state_of_articles(scope: Scope) -> list[int]:
    """Return the scope's article count and newest revision: one of them changes whenever an article does."""
    articles = Article.objects.in_scope(None, scope.until, scope.newspaper_ids)
    facts = articles.aggregate(count=Count("id"), newest=Max("revision"))
    return [facts["count"], facts["newest"] or 0]


def _trimmed(block: Block, fresh_days: Sequence[int], day_window: int) -> Block | None:
    """Return the days of the block on which the later article of a pair with a fresh one can be, or None."""
    first, last = block.first_day.toordinal(), block.last_day.toordinal()
    near = [day for day in fresh_days if first - day_window <= day <= last]
    if not near:
        return None
    begin, end = max(first, near[0]), min(last, near[-1] + day_window)
    return Block(datetime.date.fromordinal(begin), datetime.date.fromordinal(end), block.articles)


# ---- what a run says of pairs that earlier runs found: nothing of those that its own settings would not find ---------


@dataclass(frozen=True, slots=True)
class EarlierRuns:
    """The numbers of the runs whose evidence of a pass is current, by how their settings compare with others.

    Those with the `same` settings and rules, and those with `comparable` ones: what they found is found again, if it is
    inside the bounds. Of the evidence of any other run, nothing can be said.
    """

    same: list[int]
    comparable: list[int]


def earlier_runs(pass_name: str, config: PassConfig, scope: Scope) -> EarlierRuns:
    """Return the runs that a run of a pass with these settings can be compared with."""
    found = Evidence.objects.filter(run=OuterRef("pk"), pass_name=pass_name, stale=False)
    runs = DetectionRun.objects.filter(Exists(found)).order_by("pk").values_list("pk", "config", "scope")
    rules = scope.stored()["rules"]
    same, comparable = [], []
    for number, configs, of_run in runs:
        used = configs.get(pass_name, {})
        if PASSES[pass_name].compares_texts and of_run.get("boilerplate", Mode.KEEP) != scope.boilerplate.value:
            continue
        if _finds_the_same(config, used) and of_run.get("rules", []) == rules:
            same.append(number)
        elif config.comparable(used):
            comparable.append(number)
    return EarlierRuns(same, comparable)


def _finds_the_same(config: PassConfig, used: Mapping[str, Any]) -> bool:
    """Return whether settings of an earlier run are these, apart from those that find the same with any value."""
    chosen = dataclasses.asdict(config)
    declared = settings_of(type(config)).items()
    return all(
        declaration.effect is SettingEffect.SAME or chosen[name] == used.get(name, field.default)
        for name, (field, declaration) in declared
    )


def judged_by(pass_name: str, config: PassConfig, scope: Scope) -> dict[str, Any]:
    """Return of which evidence a run of a pass can say that it is no longer found, as parameters of an SQL statement.

    Bounds of pairs of newspapers come as arrays, a place for each pair.
    """
    runs = earlier_runs(pass_name, config, scope)
    general = general_bounds(config)
    own = list(_own_bounds(pass_name, config, scope.rules))
    return {
        "same_runs": runs.same,
        "comparable_runs": runs.comparable,
        "hides": general.retired,
        "lowest_score": general.lowest_score,
        "most_days_apart": general.most_days,
        "firsts": [first for first, _, _ in own],
        "seconds": [second for _, second, _ in own],
        # No pair that is left out reaches this score.
        "lowest_scores": [2.0 if bounds.left_out else bounds.lowest_score for _, _, bounds in own],
        "most_days": [bounds.most_days for _, _, bounds in own],
        "hiding": [bounds.retired for _, _, bounds in own],
    }


def _own_bounds(pass_name: str, config: PassConfig, rules: Rules) -> Iterator[tuple[int, int, Bounds]]:
    """Yield the bounds of every two newspapers that a rule is about, by their ids, the smaller one first."""
    newspapers = list(Newspaper.objects.values_list("pk", flat=True)) if rules else []
    pairs = {
        (min(one, other), max(one, other))
        for rule in rules
        for one in rule.sides[0]
        for other in (*rule.sides, newspapers)[1]
    }
    for first, second in sorted(pairs):
        yield first, second, bounds_of(pass_name, config, rules, first, second)
