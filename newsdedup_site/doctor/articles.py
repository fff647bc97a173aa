"""Whether articles have the forms that the normaliser makes today, and pairs what their evidence and articles give."""

import gzip
import random
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, LiteralString

from django.db.models import Model, QuerySet

from articles.models import Article, ArticlePage, ArticleURL, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.text import text_digest
from articles.normalization.urls import comparable_url, url_key
from articles.storage.newspapers import Paper
from articles.storage.preparing import Forms
from articles.storage.renormalization import outdated_forms
from newsdedup_site.doctor.invariant import FULL_RUN, Found, Invariant, Sample, by, listed

_AT_ONCE = 500
_OWN_URLS_SQL: LiteralString = """
SELECT format('article %s has the URL %s, which is not among its URLs', article.id, article.url)
FROM articles_article AS article
WHERE NOT article.withheld AND NOT EXISTS (
    SELECT FROM articles_articleurl AS known WHERE known.article_id = article.id AND known.url = article.url
)
"""
_REVISIONS_SQL: LiteralString = """
WITH counted AS (
    SELECT revision, count(*) AS articles, min(id) AS first FROM articles_article GROUP BY revision
)
SELECT format('%s articles have the revision %s, the first is %s', articles, revision, first)
FROM counted
WHERE articles > 1 OR revision < 1
"""
_MERGED_SQL: LiteralString = """
SELECT format('newspaper %s was merged into %s, and has %s articles', newspaper.id,
    newspaper.merged_into_id, count(article.id))
FROM articles_newspaper AS newspaper
JOIN articles_article AS article ON article.newspaper_id = newspaper.id
WHERE newspaper.merged_into_id IS NOT NULL
GROUP BY newspaper.id
"""
_MERGES_SQL: LiteralString = """
SELECT format('newspaper %s is merged into %s, and its last merge says %s', newspaper.id,
    coalesce(newspaper.merged_into_id::text, 'none'), coalesce(made.into_id::text, 'none'))
FROM articles_newspaper AS newspaper
LEFT JOIN articles_newspapermerge AS made ON made.merged_id = newspaper.id AND made.undone_at IS NULL
WHERE newspaper.merged_into_id IS DISTINCT FROM made.into_id
"""
_VERSIONS_SQL: LiteralString = """
SELECT format('article %s has %s later versions, and the last one is number %s', article_id,
    count(*), max(number))
FROM articles_articlerevision
GROUP BY article_id
HAVING max(number) <> count(*)
"""
_REPEATED_SQL: LiteralString = """
SELECT format('sentence %s is in %s articles, and %s are named', id, articles,
    cardinality(article_ids))
FROM articles_repeatedsentence
WHERE articles <> cardinality(article_ids)
"""


def sampled(rows: QuerySet[Any], sample: Sample, field: str = "pk", of: type[Model] = Article) -> QuerySet[Any]:
    """Return the rows of the sampled articles, or of those of another model; `field` leads to its number."""
    rows, known = rows.order_by(), of.objects.order_by("pk").values_list("pk", flat=True)  # type: ignore[attr-defined]
    if sample.articles is None or known.count() <= sample.articles:
        return rows
    # Positions would need a sort of all ids; ids that nothing has are rare, because rows are not deleted.
    first, last = known.first() or 0, known.last() or 0
    drawn = random.Random(sample.seed).sample(range(first, last + 1), min(sample.articles, last + 1 - first))  # noqa: S311
    return rows.filter(**{f"{field}__in": sorted(drawn)})


def _papers() -> dict[int, Paper]:
    return {newspaper.pk: Paper.of(newspaper) for newspaper in Newspaper.objects.all()}


def _forms(sample: Sample) -> Found:
    papers = _papers()
    columns = ("pk", "newspaper_id", "headline", "content", "normalized_title", "normalized_text", "text_digest")
    current = Article.objects.filter(normalizer_version=NORMALIZER_VERSION, withheld=False).values_list(*columns)
    found = listed(
        f"article {pk} has another {_which(forms, stored)} than its text and headline give"
        for pk, newspaper, headline, content, *stored in sampled(current, sample).iterator(_AT_ONCE)
        if (forms := Forms.of(papers[newspaper].affixes, headline, content)) != Forms(*stored)
    )
    outdated = outdated_forms().count()
    waiting = f"{outdated:,} articles were normalised by other rules; manage.py renormalize renews them."
    return found._replace(waiting=waiting if outdated else "")


def _which(forms: Forms, stored: Sequence[Any]) -> str:
    if forms.normalized_title != stored[0]:
        return "normalised title"
    return "normalised text" if forms.normalized_text != stored[1] else "digest"


def _urls(sample: Sample) -> Found:
    papers = _papers()
    current = ArticleURL.objects.filter(article__normalizer_version=NORMALIZER_VERSION, article__withheld=False)
    columns = ("pk", "article", "article__newspaper", "url", "key", "normalized_url")
    rows = sampled(current.values_list(*columns), sample, "article")
    return listed(
        f"URL {pk} of article {article} has another {'form' if key == url_key(url) else 'key'} than it gives"
        for pk, article, newspaper, url, key, form in rows.iterator(_AT_ONCE)
        if form != comparable_url(url, papers[newspaper].kept_url_parameters)
        or (key != url_key(url) and not ArticleURL.objects.filter(key=url_key(url)).exists())
    )


def _texts(sample: Sample) -> Found:
    columns = (
        "pk", "content", "characters", "boilerplate", "story_text", "story_digest", "topic_text", "topic_digest"
    )  # fmt: skip
    return listed(
        f"article {pk}: {fault}"
        for pk, *values in sampled(Article.objects.values_list(*columns), sample).iterator(_AT_ONCE)
        for fault in _faults_of_text(*values)
    )


def _faults_of_text(
    content: str, characters: int | None, marks: list[Any], story: Any, story_digest: Any, topic: Any, topic_digest: Any
) -> Iterator[str]:
    if characters is not None and characters != len(content):
        yield f"it has {len(content):,} characters, and {characters:,} are stored"
    if any(not 0 <= start < end <= len(content) for start, end, *_ in marks):
        yield "a mark of boilerplate is outside its text"
    for name, text, digest in (("story", story, story_digest), ("topic", topic, topic_digest)):
        if digest != (text_digest(text) if text else None):
            yield f"the digest of its {name} text is another one"


def _pages(sample: Sample) -> Found:
    pages = ArticlePage.objects.values_list("pk", "body", "feed_entry")
    return listed(
        f"the page of article {pk} cannot be unpacked"
        for pk, *packed in sampled(pages, sample).iterator(_AT_ONCE)
        if not all(_unpacks(bytes(body)) for body in packed)
    )


def _unpacks(packed: bytes) -> bool:
    try:
        gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        return False
    return True


_RENORMALIZE = (
    "Save the newspaper in the settings with another affix and back, which marks its articles as outdated; then run "
    "`manage.py renormalize` and `manage.py find_duplicates`."
)


# Runs raise scores with the evidence, and lower them near their end. So a score may be too high while a run is active
# or was stopped; the next run lowers it.
_SCORES_SQL: LiteralString = """
WITH best AS (
    SELECT pair.id, pair.best_score, coalesce(max(evidence.score) FILTER (WHERE NOT evidence.stale), 0) AS score
    FROM dedup_pair AS pair
    LEFT JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
    GROUP BY pair.id
), last_run AS (
    SELECT state FROM dedup_detectionrun ORDER BY id DESC LIMIT 1
)
SELECT format('pair %s has the score %s, and its evidence %s', id, best_score, score)
FROM best
WHERE best_score < score OR best_score > score AND (SELECT state FROM last_run) = 'done'
"""
# The next run corrects what has changed since the mark.
_FACTS_SQL: LiteralString = """
SELECT format('pair %s: %s days apart%s, and its articles %s%s', pair.id, pair.days_apart,
    CASE WHEN pair.same_newspaper THEN ' in one newspaper' ELSE '' END, abs(one.date - other.date),
    CASE WHEN one.newspaper_id = other.newspaper_id THEN ' in one newspaper' ELSE '' END)
FROM dedup_pair AS pair
JOIN articles_article AS one ON one.id = pair.left_id
JOIN articles_article AS other ON other.id = pair.right_id
WHERE (pair.days_apart, pair.same_newspaper)
        IS DISTINCT FROM (abs(one.date - other.date), one.newspaper_id = other.newspaper_id)
    AND greatest(one.revision, other.revision)
        <= coalesce((SELECT revision FROM dedup_watermark WHERE name = 'article facts'), 0)
"""
_VERDICTS_SQL: LiteralString = """
SELECT format('pair %s: verdict "%s", probability %s, of duplicates %s, joins: %s', id, verdict,
    coalesce(probability::text, 'none'), coalesce(duplicate_probability::text, 'none'), joins)
FROM dedup_pair
WHERE (verdict = '') <> (probability IS NULL)
    OR (verdict = '') <> (duplicate_probability IS NULL)
    OR verdict = '' AND input_digest IS NOT NULL
    OR joins AND verdict NOT IN ('duplicate', 'version')
    OR verdict NOT IN ('', 'duplicate', 'version', 'template', 'similar')
    OR probability NOT BETWEEN 0 AND 1 OR duplicate_probability NOT BETWEEN 0 AND 1
    OR left_matched NOT BETWEEN 0 AND 1 OR right_matched NOT BETWEEN 0 AND 1
"""
# A block's evidence and its mark are one transaction. Checks of dense groups belong to no block. Later runs take
# evidence over that they find again, so an earlier run may have less than its blocks say, and never more.
_MARKS_SQL: LiteralString = """
WITH found AS (
    SELECT run_id, pass_name, count(*) AS pairs
    FROM dedup_evidence
    WHERE pass_name <> 'dense group'
    GROUP BY run_id, pass_name
), marked AS (
    SELECT run_id, pass_name, sum(pairs) AS pairs FROM dedup_runblock GROUP BY run_id, pass_name
)
SELECT format('run %s has %s pairs of the pass %s, and its blocks %s', found.run_id, found.pairs,
    found.pass_name, coalesce(marked.pairs, 0))
FROM found
LEFT JOIN marked USING (run_id, pass_name)
WHERE found.pairs > coalesce(marked.pairs, 0)
"""
# Of the last run alone, whose evidence no later run has taken over, and only if it ended. An admin's removal takes
# evidence with it, and counts it.
_LAST_MARKS_SQL: LiteralString = """
WITH last_run AS (
    SELECT id, started_at FROM (SELECT * FROM dedup_detectionrun ORDER BY id DESC LIMIT 1) AS latest
    WHERE state = 'done'
), removed AS (
    SELECT coalesce(sum((removal.counts ->> 'evidence')::bigint), 0) AS evidence,
        coalesce(bool_or(removal.state <> 'done'), false) AS under_way
    FROM articles_removal AS removal
    JOIN last_run ON removal.seen_at > last_run.started_at
), marked AS (
    SELECT block.run_id, block.pass_name, sum(block.pairs) AS pairs
    FROM dedup_runblock AS block
    JOIN last_run ON last_run.id = block.run_id
    GROUP BY block.run_id, block.pass_name
)
SELECT format('run %s has %s pairs of the pass %s, and its blocks %s', marked.run_id, found.pairs,
    marked.pass_name, marked.pairs)
FROM marked
CROSS JOIN removed
CROSS JOIN LATERAL (
    SELECT count(*) AS pairs FROM dedup_evidence AS evidence
    WHERE evidence.run_id = marked.run_id AND evidence.pass_name = marked.pass_name
) AS found
WHERE found.pairs > marked.pairs
    OR found.pairs < marked.pairs - removed.evidence AND NOT removed.under_way
"""
_RUNS_SQL: LiteralString = """
SELECT format('run %s is %s, %s', id, state,
    CASE WHEN finished_at IS NULL THEN 'and has no end'
        WHEN state = 'running' THEN 'and has an end' ELSE 'and ended before it started' END)
FROM dedup_detectionrun
WHERE (state = 'running') <> (finished_at IS NULL) OR finished_at < started_at
"""

_COLLECTIONS_SQL: LiteralString = """
SELECT format('newspaper %s is in %s collections of the kind %s', place.newspaper_id, count(*), collection.kind)
FROM articles_collection_newspapers AS place
JOIN articles_collection AS collection ON collection.id = place.collection_id
GROUP BY place.newspaper_id, collection.kind HAVING count(*) > 1
"""

INVARIANTS = (
    Invariant("forms", "The normalised forms of articles are those that the rules give today.", _forms, _RENORMALIZE),
    Invariant("urls", "The keys and forms of URLs are those that the rules give today.", _urls, _RENORMALIZE),
    Invariant("own-urls", "The URL of an article is one of its URLs.", by(_OWN_URLS_SQL)),
    Invariant("texts", "Lengths, digests and marks of boilerplate fit the texts.", _texts),
    Invariant("pages", "Every kept page can be unpacked.", _pages),
    Invariant("revisions", "No two articles share a revision.", by(_REVISIONS_SQL)),
    Invariant("merged", "A merged newspaper has no articles.", by(_MERGED_SQL), "Undo the merge and merge it again."),
    Invariant(
        "collections",
        "A newspaper is in at most one collection of a kind.",
        by(_COLLECTIONS_SQL),
        "Take it out of all but one on the page Collections.",
    ),
    Invariant("merges", "Newspapers are merged as the last merge says.", by(_MERGES_SQL)),
    Invariant("later-versions", "The later versions of an article are numbered without a gap.", by(_VERSIONS_SQL)),
    Invariant(
        "repeated-sentences",
        "A repeated sentence names as many articles as it counts.",
        by(_REPEATED_SQL),
        "Run `manage.py find_boilerplate`.",
    ),
    Invariant("scores", "The score of a pair is the highest one of its current evidence.", by(_SCORES_SQL), FULL_RUN),
    Invariant("pair-facts", "A pair has the days and newspapers of its articles.", by(_FACTS_SQL), FULL_RUN),
    Invariant(
        "verdicts",
        "A verdict is whole: its kind, its probabilities, and whether it joins.",
        by(_VERDICTS_SQL),
        FULL_RUN,
    ),
    Invariant(
        "evidence-marked", "All evidence is of a block that its run has marked as done.", by(_MARKS_SQL), FULL_RUN
    ),
    Invariant(
        "marks-with-evidence",
        "Each block of the last run has the evidence that its mark counts.",
        by(_LAST_MARKS_SQL),
        FULL_RUN,
    ),
    Invariant("runs-ended", "A run that is not active has an end.", by(_RUNS_SQL)),
)
