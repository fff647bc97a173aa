"""What speaks against answering a question at a glance: one list, for the pages and for the tab "Nearly certain".

The pages show every doubt of a pair, an article or a cluster; a question with a doubt is not nearly certain. A new
warning is a line here: its condition in SQL, and what the pages say of it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg.sql import SQL, Composable, Identifier, Literal, Placeholder

from articles.models import Article
from articles.numbers import counted
from dedup.detection.clustering.components import LEAST_IN_COMMON
from dedup.detection.verdicts.reasons import CLEAR, is_clear
from dedup.models import Pair
from dedup.models.base import read_rows
from dedup.models.pairs import WEAK_PROBABILITY


@dataclass(frozen=True, slots=True)
class Doubt:
    """What one page says about a pair or a cluster."""

    name: str
    title: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class PairDoubt:
    """A condition on the row `pair` of dedup_pair. An empty `title`: the page says it in other words."""

    name: str
    title: str
    holds: LiteralString


@dataclass(frozen=True, slots=True)
class ClusterDoubt:
    """A number, 0 for no doubt, of the row `cluster` of dedup_cluster; and what is said of it."""

    name: str
    title: str
    number: LiteralString
    says: Callable[[int], str]


# The fields of an article that say that something about it is uncertain.
ARTICLE_DOUBTS = {"date_doubt": "Uncertain date", "text_doubt": "Uncertain text", "paywalled": "Paywall"}
PAIR_DOUBTS = (
    PairDoubt("verdict", "Not judged to be duplicates.", "pair.verdict <> 'duplicate'"),
    PairDoubt(
        "reasons",
        "",
        "EXISTS (SELECT FROM jsonb_array_elements_text(pair.reasons) AS given (reason) "
        "WHERE NOT reason LIKE ANY ({clear}))",
    ),
    PairDoubt(
        "longer",
        "Most of the longer article is not in the shorter one.",
        "least(pair.left_matched, pair.right_matched) < 0.5",
    ),
    PairDoubt(
        "revised",
        "A later version of one of them is stored, or it is gone from its page.",
        "EXISTS (SELECT FROM articles_articlerevision WHERE article_id IN (pair.left_id, pair.right_id))",
    ),
    PairDoubt(
        "apart",
        "",
        "pair.joins AND coalesce("
        "(SELECT cluster_id FROM dedup_membership WHERE article_id = pair.left_id) <> "
        "(SELECT cluster_id FROM dedup_membership WHERE article_id = pair.right_id), true)",
    ),
)

# The waiting pairs of a cluster's articles. The cluster of the right article is looked up for each, by the unique index
# on article_id: in a join, PostgreSQL may compare each pair with all articles of a cluster that it takes for small.
_INSIDE: LiteralString = """(
SELECT count(*)
FROM dedup_membership AS member
JOIN dedup_pair AS pair ON pair.left_id = member.article_id
WHERE member.cluster_id = cluster.id AND pair.state = 'undecided' AND pair.best_score > 0 AND pair.verdict <> ''
    AND (SELECT other.cluster_id FROM dedup_membership AS other WHERE other.article_id = pair.right_id) = cluster.id
    AND """
CLUSTER_DOUBTS = (
    ClusterDoubt(
        "contradiction",
        "This cluster contradicts a decision.",
        """(
SELECT count(*)
FROM dedup_membership AS one
JOIN dedup_standing_link AS link ON link.left_id = one.article_id AND link.effect = 'cannot'
JOIN dedup_membership AS other ON other.article_id = link.right_id AND other.cluster_id = one.cluster_id
WHERE one.cluster_id = cluster.id
)""",
        lambda number: (
            f"An editor decided that {counted(number, 'pair')} of these articles "
            f"{'is not a duplicate' if number == 1 else 'are not duplicates'}."
        ),
    ),
    ClusterDoubt(
        "no_copies",
        "Not all of them look like copies.",
        _INSIDE + "pair.verdict <> 'duplicate')",
        lambda number: (
            f"{counted(number, 'pair')} of these articles {'was' if number == 1 else 'were'} judged to be versions, "
            "templates or merely similar."
        ),
    ),
    ClusterDoubt(
        "unlike",
        "Not all of them look like copies.",
        # An article whose text was not found to have enough in common with the kept one, nor was one with equal text.
        """(
WITH alike AS MATERIALIZED (
    SELECT article.id, article.text_digest
    FROM dedup_pair AS pair
    JOIN articles_article AS article
        ON article.id = CASE cluster.kept_id WHEN pair.left_id THEN pair.right_id ELSE pair.left_id END
    WHERE cluster.kept_id IN (pair.left_id, pair.right_id)
        AND greatest(pair.left_matched, pair.right_matched) >= {common}
)
SELECT count(*)
FROM dedup_membership AS member
JOIN articles_article AS article ON article.id = member.article_id
JOIN articles_article AS kept ON kept.id = cluster.kept_id
WHERE member.cluster_id = cluster.id AND article.text_digest IS DISTINCT FROM kept.text_digest
    AND NOT EXISTS (SELECT FROM alike WHERE alike.id = article.id)
    AND NOT EXISTS (SELECT FROM alike WHERE alike.text_digest = article.text_digest)
)""",
        lambda number: (
            f"{number:,} of the articles {'has' if number == 1 else 'have'} little in common with the kept one, as far "
            "as they were compared."
        ),
    ),
    ClusterDoubt(
        "weak",
        "Weak link.",
        "CASE WHEN cluster.lowest_score < {weak} THEN greatest(round(100 * cluster.lowest_score), 1) ELSE 0 END",
        lambda number: f"One link of this cluster has a chance of only {number}%.",
    ),
    ClusterDoubt(
        "pairs",
        "They differ.",
        _INSIDE + "pair.verdict = 'duplicate' AND {pair_doubt})",
        lambda number: (
            f"{counted(number, 'pair')} of these articles {'differs' if number == 1 else 'differ'} in what matters."
        ),
    ),
    ClusterDoubt(
        "articles",
        "Uncertain text or date.",
        """(
SELECT count(*)
FROM dedup_membership AS member
JOIN articles_article AS article ON article.id = member.article_id
WHERE member.cluster_id = cluster.id AND {article_doubt}
)""",
        lambda number: f"{number:,} of the articles may not be whole, or not of that day.",
    ),
)


# ---- in SQL ----------------------------------------------------------------------------------------


def _any(conditions: list[Composable]) -> Composable:
    return SQL("({})").format(SQL(" OR ").join(conditions))


def _article_doubt() -> Composable:
    """Return whether a row `article` is in doubt."""
    fields = {name: Article._meta.get_field(name) for name in ARTICLE_DOUBTS}  # noqa: SLF001 - public
    holds = {True: SQL("article.{}"), False: SQL("NOT (article.{} = '')")}
    return _any(
        [holds[found.empty_strings_allowed is False].format(Identifier(name)) for name, found in fields.items()]
    )


def _holds(doubt: PairDoubt) -> Composable:
    # A statement with parameters writes % twice.
    return SQL(doubt.holds).format(clear=Literal([pattern.replace("%", "%%") for pattern in CLEAR]))


def pair_is_doubted() -> Composable:
    """Return the condition that a row `pair` of dedup_pair, or one of its articles, is in doubt."""
    articles = SQL(
        "EXISTS (SELECT FROM articles_article AS article WHERE article.id IN (pair.left_id, pair.right_id) AND {})"
    )
    return _any([*map(_holds, PAIR_DOUBTS), articles.format(_article_doubt())])


def _number(doubt: ClusterDoubt) -> Composable:
    return SQL(doubt.number).format(
        common=Literal(LEAST_IN_COMMON),
        weak=Literal(WEAK_PROBABILITY),
        pair_doubt=_any(list(map(_holds, PAIR_DOUBTS))),
        article_doubt=_article_doubt(),
    )


def cluster_is_doubted() -> Composable:
    """Return the condition that a row `cluster` of dedup_cluster is in doubt."""
    return _any([SQL("{} > 0").format(_number(doubt)) for doubt in CLUSTER_DOUBTS])


def _sql(of: str, columns: Iterable[Composable]) -> str:
    values = {"columns": SQL(", ").join(columns), "table": Identifier(f"dedup_{of}"), "row": Identifier(of)}
    return (
        SQL("SELECT {columns} FROM {table} AS {row} WHERE id = {number}")
        .format(**values, number=Placeholder(of))
        .as_string()
    )


# Whether each doubt of a pair holds, and the number of each doubt of a cluster.
DOUBTS_OF_PAIR_SQL = _sql("pair", map(_holds, PAIR_DOUBTS))
_DOUBTS_OF_CLUSTER_SQL = _sql("cluster", map(_number, CLUSTER_DOUBTS))


# ---- for the pages ---------------------------------------------------------------------------------


def doubts_of_pair(pair: Pair, doubted: Sequence[bool]) -> list[Doubt]:
    """Return what speaks against answering this pair at a glance. Its articles have doubts of their own.

    `doubted`: the row of DOUBTS_OF_PAIR_SQL.
    """
    reasons = [Doubt("reasons", reason) for reason in pair.reasons if not is_clear(reason)]
    found = zip(PAIR_DOUBTS, doubted, strict=True)
    return [*reasons, *(Doubt(doubt.name, doubt.title) for doubt, holds in found if holds and doubt.title)]


def doubts_of_cluster(cluster_id: int) -> list[Doubt]:
    """Return what speaks against confirming this cluster at a glance."""
    (row,) = read_rows(_DOUBTS_OF_CLUSTER_SQL, cluster=cluster_id)
    found = zip(CLUSTER_DOUBTS, map(int, row), strict=True)
    return [Doubt(doubt.name, doubt.title, doubt.says(number)) for doubt, number in found if number]


def doubts_of_article(article: Article) -> list[str]:
    """Return what is uncertain about an article, in two words each."""
    return [title for name, title in ARTICLE_DOUBTS.items() if getattr(article, name)]
