"""The rows of a cluster, of which equal texts are one, and what connects and separates them."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Q
from django.db.models.functions import Left, Length

from articles.grouping import by_key
from articles.models import Article
from articles.normalization.times import publication_order
from dedup.answers import PARTED_STATES, Effect, with_effect
from dedup.detection.clustering.components import Bridge, Tie, parts_of, weakest_bridge
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.detection.comparison.alignment import MAX_COMPARISONS, comparisons, shared_words
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.comparison.shown_text import ShownText
from dedup.models import Pair
from dedup.models.pairs import WEAK_PROBABILITY
from dedup.review.answers.decisions import in_order
from dedup.review.pictures.graph import Graph, Line, Node, draw_graph
from dedup.review.queries.articles import compared_texts

# One character more than the template shows of each text, so that it marks the text as cut.
BEGINNING_CHARACTERS = 201
# The words of so much text are counted; more would take too long.
COMPARED_CHARACTERS = 500_000


@dataclass(slots=True)
class Row:
    """Articles with the same text, in order of publication, and the one that is shown: the kept one, if it is in it.

    `headlines` are the different ones, that of `shown` first. `changed` says how many words the text has more, and how
    many less, than that of the kept article, not counting moved ones; it is None if the two were not compared.
    """

    number: int
    articles: list[Article]
    shown: Article
    kept: bool
    has_text: bool  # that of the cluster, if it is not the kept article's
    headlines: list[str]
    characters: int = 0
    beginning: str = ""
    changed: tuple[int, int] | None = None
    pair_id: int | None = None  # the pair of `shown` and the kept article, if a pass found it
    ticked: bool = False
    inside: int = 0  # pairs of its articles with each other
    ids: str = field(init=False)  # of all articles, as the form sends them

    def __post_init__(self) -> None:
        self.ids = ",".join(str(article.pk) for article in self.articles)

    @property
    def tick_action(self) -> str:
        """The name of the action that ticks it; the first nine have keys."""
        return f"tick_{self.number}"

    @property
    def others(self) -> list[str]:
        """The headlines that differ from the one shown."""
        return self.headlines[1:]


def rows_of(articles: Sequence[Article], kept_id: int, text_id: int | None = None) -> list[Row]:
    """Return the rows of these articles, by their first publication, each with the beginning of its text."""
    by_id = {article.pk: article for article in articles}
    ordered = publication_order((article.pk, article.date, article.published_at) for article in articles)
    # An empty text has no digest, and is like no other.
    groups = by_key((by_id[pk].text_digest or pk, by_id[pk]) for pk in ordered)
    rows = [_row(number, group, kept_id, text_id) for number, group in enumerate(groups.values(), 1)]
    texts = Article.objects.filter(pk__in=[row.shown.pk for row in rows])
    columns = texts.values_list("pk", Length("content"), Left("content", BEGINNING_CHARACTERS))
    beginnings = {pk: (characters, beginning) for pk, characters, beginning in columns}
    for row in rows:
        row.characters, row.beginning = beginnings[row.shown.pk]
    return rows


def _row(number: int, group: list[Article], kept_id: int, text_id: int | None) -> Row:
    shown = next((article for article in group if article.pk == kept_id), group[0])
    headlines = list(dict.fromkeys([shown.headline, *(article.headline for article in group)]))
    has_text = any(article.pk == text_id for article in group)
    return Row(number, group, shown, shown.pk == kept_id, has_text, headlines)


def name_pairs(rows: Collection[Row], kept_id: int) -> None:
    """Add the pair of each row with the kept article, if there is one."""
    row_of = {row.shown.pk: row for row in rows}
    with_kept = Q(left=kept_id, right__in=row_of) | Q(right=kept_id, left__in=row_of)
    for left, right, pk in Pair.objects.filter(with_kept).order_by().values_list("left", "right", "pk"):
        row_of[left if right == kept_id else right].pair_id = pk


def compare_with_kept(rows: Collection[Row], kept_id: int) -> None:
    """Add how many words each text has more and less than that of the kept article, by sentences, wherever they are."""
    left = COMPARED_CHARACTERS
    chosen = {}
    for row in rows:
        left -= row.characters
        if not row.kept and left >= 0:
            chosen[row.shown.pk] = row
    if not chosen:
        return
    preparer = Preparer()
    articles = list(Article.objects.filter(pk__in=[*chosen, kept_id]).only("date", "content", "boilerplate"))
    texts = [ShownText(text, preparer).prepared for text in compared_texts(articles)]
    found = dict(zip((article.pk for article in articles), texts, strict=True))
    kept = found[kept_id]
    for pk, row in chosen.items():
        if comparisons(kept, found[pk]) <= MAX_COMPARISONS:
            shared = shared_words(kept, found[pk])
            row.changed = (len(found[pk].words) - shared, len(kept.words) - shared)


# Below this, each row is a node; a larger cluster is drawn as so many parts.
MOST_NODES = 40
PARTS_DRAWN = 16
LINKS_SHOWN = 50
# The higher, the more it says of a connection.
_WORDS = {"held": "held together", "confirmed": "confirmed", "rejected": "not a duplicate"}
_KINDS = {"apart": 0, "joins": 1, "held": 2, "confirmed": 3, "rejected": 4}
_STATES = {answer.state: "confirmed" for answer in with_effect(Effect.MUST)} | dict.fromkeys(PARTED_STATES, "rejected")


@dataclass(slots=True)
class Connection:
    """What is known of two rows: the pair that says most, and how many pairs there are.

    `kind`: "confirmed" and "rejected" by editors, "held" together by a decision on a cluster; else by the verdict,
    "joins" or "apart". `pair_id` is None if no pass found the two articles. `pair` is filled in for those shown.
    """

    rows: tuple[int, int]
    articles: tuple[int, int]
    kind: str
    chance: float  # 0..1: of the verdict that joins them; else of being duplicates
    pair_id: int | None = None
    pairs: int = 1
    bridge: bool = False
    pair: Pair | None = None

    @property
    def weight(self) -> tuple[int, float]:
        """Which of two connections says more."""
        return _KINDS[self.kind], self.chance

    @property
    def words(self) -> str:
        """What it says of two rows, in brief."""
        said = "" if self.kind == "joins" else ", not joined"
        return _WORDS.get(self.kind) or f"{math.floor(self.chance * 100 + 1e-6)}%{said}"

    @property
    def decided(self) -> bool:
        """Whether a decision says so."""
        return _KINDS[self.kind] > _KINDS["joins"]


@dataclass(frozen=True)
class Ties:
    """The connections of the rows, the weakest first, the weakest bridge, and the drawn graph.

    `parts` has the rows of each node, if nodes are parts of the cluster and not rows.
    """

    connections: list[Connection]
    bridge: Bridge | None
    bridge_pair: int | None
    graph: Graph | None
    parts: list[tuple[int, ...]] = field(default_factory=list)
    links_shown: int = LINKS_SHOWN

    @property
    def shown(self) -> list[Connection]:
        """The connections that the table lists one by one."""
        return self.connections[:LINKS_SHOWN]

    @property
    def others_number(self) -> int:
        """How many connections there are besides."""
        return len(self.connections) - len(self.shown)

    @property
    def others(self) -> list[tuple[int, str]]:
        """The other connections, by their first row: "7 (96%), 9 (not a duplicate)"."""
        found: dict[int, list[str]] = {}
        for connection in self.connections[LINKS_SHOWN:]:
            found.setdefault(connection.rows[0], []).append(f"{connection.rows[1]} ({connection.words})")
        return [(number, ", ".join(texts)) for number, texts in sorted(found.items())]


def ties_of(rows: list[Row]) -> Ties:
    """Return what connects the rows of a cluster, and count the pairs inside each row."""
    row_of = {article.pk: row.number for row in rows for article in row.articles}
    found: dict[tuple[int, int], Connection] = {}
    inside: dict[int, int] = {}
    for connection in [*_of_pairs(row_of), *_of_decisions(row_of)]:
        if connection.rows[0] == connection.rows[1]:
            inside[connection.rows[0]] = inside.get(connection.rows[0], 0) + connection.pairs
        else:
            _note(found, connection)
    for row in rows:
        row.inside = inside.get(row.number, 0)
    connections = sorted(
        found.values(), key=lambda connection: (connection.decided, connection.chance, connection.rows)
    )
    return _with_bridge(rows, connections)


def _of_pairs(row_of: Mapping[int, int]) -> Iterable[Connection]:
    pairs = Pair.objects.among(list(row_of))
    columns = ("pk", "left", "right", "state", "best_score", "joins", "probability", "duplicate_probability")
    for pk, left, right, state, score, joins, chance, duplicate_chance in pairs.order_by("pk").values_list(*columns):
        kind = _STATES.get(state) or ("joins" if joins else "apart")
        if score > 0 or kind in ("confirmed", "rejected"):
            shown = (chance if joins else duplicate_chance) or 0.0
            yield Connection(in_order(row_of[left], row_of[right]), (left, right), kind, shown, pk)


def _of_decisions(row_of: Mapping[int, int]) -> Iterable[Connection]:
    constraints = constraints_in_force(list(row_of))
    said = (("confirmed", constraints.must), ("rejected", constraints.cannot), ("held", constraints.stay))
    for kind, pairs in said:
        for left, right in pairs:
            if left in row_of and right in row_of:
                # The pair, if there is one, is counted already.
                yield Connection(in_order(row_of[left], row_of[right]), (left, right), kind, 0.0, pairs=0)


def _note(found: dict[tuple[int, int], Connection], new: Connection) -> None:
    known = found.setdefault(new.rows, new)
    if known is new:
        return
    pairs, same = known.pairs + new.pairs, new.articles == known.articles
    if same and _KINDS[new.kind] > _KINDS[known.kind]:
        known.kind = new.kind
    elif not same and new.weight > known.weight:
        found[new.rows] = new
    found[new.rows].pairs = pairs


def _with_bridge(rows: list[Row], connections: list[Connection]) -> Ties:
    numbers = [row.number for row in rows]
    ties = [
        Tie(*connection.rows, connection.chance, connection.decided)
        for connection in connections
        if connection.kind in ("joins", "held", "confirmed")
    ]
    bridge = weakest_bridge(numbers, ties)
    bridge_pair = None
    for connection in connections:
        if bridge and connection.rows == bridge.tie[:2]:
            connection.bridge, bridge_pair = True, connection.pair_id
    parts = parts_of(numbers, ties, at_most=PARTS_DRAWN) if len(rows) > MOST_NODES else []
    too_many = len(parts) > MOST_NODES
    graph = None if len(rows) < 2 or too_many else _graph(rows, connections, bridge, parts)
    return Ties(connections, bridge, bridge_pair, graph, [] if too_many else parts)


def _graph(
    rows: list[Row], connections: list[Connection], bridge: Bridge | None, parts: list[tuple[int, ...]]
) -> Graph:
    groups = parts or [(row.number,) for row in rows]
    node_of = {number: place for place, group in enumerate(groups, 1) for number in group}
    by_number = {row.number: row for row in rows}
    nodes = [
        _node(place, [by_number[number] for number in group], parts=bool(parts))
        for place, group in enumerate(groups, 1)
    ]
    lines: dict[tuple[int, int], Connection] = {}
    for connection in connections:
        ends = in_order(*(node_of[number] for number in connection.rows))
        known = lines.get(ends)
        if ends[0] != ends[1] and (
            known is None or (connection.bridge, connection.weight) > (known.bridge, known.weight)
        ):
            lines[ends] = connection
    drawn = [Line(*ends, connection.kind, connection.chance, connection.bridge) for ends, connection in lines.items()]
    weak = bridge is not None and bridge.tie.strength < WEAK_PROBABILITY
    halves = [sorted({node_of[number] for number in part}) for part in bridge.parts] if bridge and weak else []
    return draw_graph(nodes, [_turned(line, halves) for line in drawn], halves)


def _turned(line: Line, halves: list[list[int]]) -> Line:
    """Return the bridge with its left end in the first half."""
    if line.bridge and halves and line.left not in halves[0]:
        return Line(line.right, line.left, line.kind, line.chance, bridge=True)
    return line


def _node(number: int, rows: Collection[Row], *, parts: bool) -> Node:
    label = chr(ord("A") + number - 1) if parts and number <= 26 else str(number)
    return Node(number, label, sum(len(row.articles) for row in rows), any(row.kept for row in rows))
