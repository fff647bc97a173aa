"""How much the stored clusters agree with a clustering of the same articles in a file.

All measures rest on the sizes of the clusters and of their overlaps, without a table of all pairs. A clustering names
the cluster of each article; an article alone in its cluster is a cluster too.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from articles.files.records import UnreadableFileError
from dedup.models import Membership
from dedup.research import labels


def agreement_of(clusters: Sequence[Hashable], of_file: Sequence[Hashable]) -> dict[str, Any]:
    """Return how much two clusterings agree: the cluster of each article in the one, and in the other, in a file.

    `clusters` are those of two or more articles. `pairwise`: of the pairs of articles that the one puts together, the
    share that the other puts together, and the other way round. The adjusted Rand index is 1 if both are the same, and
    0 on average for chance. `b_cubed`: the same question for each article and those in its cluster, itself included,
    averaged over the articles. Raises ValueError if they do not have the same number of articles.
    """
    found, wanted = Counter(clusters), Counter(of_file)
    both = Counter(zip(clusters, of_file, strict=True))
    pairs, pairs_in_file, common = _pairs(found.values()), _pairs(wanted.values()), _pairs(both.values())
    count = len(clusters)
    # Hubert and Arabie, "Comparing partitions", Journal of Classification 2, 1985. The index is 1 for equal
    # clusterings, also where chance could give no other: all articles alone, or all together.
    expected = pairs * pairs_in_file / _pairs([count]) if count > 1 else 0.0
    most = (pairs + pairs_in_file) / 2
    return {
        "articles": count,
        "clusters": sum(size > 1 for size in found.values()),
        "clusters_in_file": sum(size > 1 for size in wanted.values()),
        "pairs": pairs,
        "pairs_in_file": pairs_in_file,
        "pairs_in_both": common,
        "pairwise": _shares(common / pairs if pairs else None, common / pairs_in_file if pairs_in_file else None),
        "adjusted_rand_index": (common - expected) / (most - expected) if most != expected else 1.0,
        "b_cubed": _shares(
            sum(size * size / found[cluster] for (cluster, _), size in both.items()) / count if count else None,
            sum(size * size / wanted[cluster] for (_, cluster), size in both.items()) / count if count else None,
        ),
    }


def _shares(precision: float | None, recall: float | None) -> dict[str, float | None]:
    """Return precision and recall, each 0..1, with their harmonic mean; None for a share of nothing."""
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def _pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


# The first column that is there names the article; "article" is not among them: exports have our own numbers there.
_IDS = ("id", "external_id")
_CLUSTERS = ("cluster", "cluster_id")

# The name of a cluster, or the number of the line of an article without one.
Cluster = str | int


@dataclass(frozen=True, slots=True)
class Clustered:
    """An article of the file and its cluster."""

    line: int
    named: labels.Named
    cluster: Cluster


@dataclass(frozen=True, slots=True)
class FoundClusters:
    """The cluster that the file gives each stored article, by its id; and the rows that do not count."""

    clusters: dict[int, Cluster]
    problems: Sequence[labels.Problem]


def read_clusters(path: Path) -> tuple[list[Clustered], list[labels.Problem]]:
    """Return the rows of a .jsonl or .csv file, which may be gzipped, and the rows that name no article.

    A row has id (external id) or url, and cluster; an empty cluster is an article alone. Raises LabelsError,
    FileUsageError and UnreadableFileError if no row can be used.
    """
    rows, problems = labels.rows_of_file(str(path), _check_header, _row)
    if not rows:
        raise labels.LabelsError(f"{path} names no article and its cluster{labels.for_example(problems)}")
    return rows, problems


def find_clustered(rows: Sequence[Clustered], problems: Sequence[labels.Problem], path: Path) -> FoundClusters:
    """Return the rows whose article is stored. Raises LabelsError if there is none."""
    stored = labels.stored_articles(row.named for row in rows)
    clusters: dict[int, Cluster] = {}
    bad = list(problems)
    for row in rows:
        try:
            article = stored(row.named)
        except labels.NotFoundError as error:
            bad.append(labels.Problem(row.line, str(error), stored=False, file=path.name))
            continue
        if clusters.setdefault(article, row.cluster) != row.cluster:
            reason = f"{row.named} is in the cluster {clusters[article]!r} too; leave it in one cluster"
            bad.append(labels.Problem(row.line, reason, file=path.name))
    if not clusters:
        raise labels.LabelsError(f"{path} names no stored article{labels.for_example(bad)}")
    return FoundClusters(clusters, sorted(bad, key=lambda problem: problem.line))


def compared(found: FoundClusters) -> dict[str, Any]:
    """Return how much the stored clusters agree with those of the file, on the articles that the file names.

    An article that is in no stored cluster is alone. Shares are 0..1, None for a share of nothing.
    """
    ours: dict[int, int] = {}
    for some in labels.in_parts(list(found.clusters)):
        ours.update(Membership.objects.filter(article__in=some).order_by().values_list("article", "cluster"))
    numbers = agreement_of([ours.get(article, -article) for article in found.clusters], list(found.clusters.values()))
    return {
        "articles": numbers["articles"],
        "not_stored": sum(not problem.stored for problem in found.problems),
        "bad": sum(problem.stored for problem in found.problems),
        **_rounded(numbers),
        "problems": [asdict(problem) for problem in found.problems],
    }


def _rounded(numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _rounded(value) if isinstance(value, dict) else value if value is None else round(value, 4)
        for name, value in numbers.items()
    }


def _check_header(names: Sequence[str]) -> None:
    known = set(map(labels.column_name, names))
    if not known & set(_CLUSTERS) or not known & {*_IDS, "url"}:
        raise UnreadableFileError(f"the header {', '.join(names)!r} needs the columns cluster, and id or url")


def _row(values: Mapping[str, object], line: int, _file: str) -> Clustered:
    """Return the article and the cluster of a row. Raises ValueError with the reason if it has none."""
    if not values.keys() & set(_CLUSTERS):
        raise ValueError("the row has no cluster; give its name, or null for an article alone")
    return Clustered(line, labels.named_by(values, _IDS, "url"), labels.first_text(values, _CLUSTERS) or line)
