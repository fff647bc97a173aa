"""What the SQL of the detection says of articles: their tables, the text that is compared, the scope, a pair's two."""

from types import SimpleNamespace
from typing import Any

from dedup.detection.types import Window

# As articles.models has them. Columns that a statement names itself: id, date, newspaper_id, revision, headline,
# normalized_title, normalized_text, content, characters and boilerplate.
ARTICLES = "articles_article"
ARTICLE_URLS = "articles_articleurl"

# Where nothing is removed, there is no text without boilerplate.
_TEXT = """CASE %(boilerplate)s::text
    WHEN 'story' THEN coalesce({article}.story_text, {article}.normalized_text)
    WHEN 'topic' THEN coalesce({article}.topic_text, {article}.normalized_text)
    ELSE {article}.normalized_text
END"""
_DIGEST = """CASE
    WHEN %(boilerplate)s::text = 'story' AND {article}.story_text IS NOT NULL THEN {article}.story_digest
    WHEN %(boilerplate)s::text = 'topic' AND {article}.topic_text IS NOT NULL THEN {article}.topic_digest
    ELSE {article}.text_digest
END"""
_WHOLE = """(CASE %(boilerplate)s::text
    WHEN 'story' THEN {article}.story_text
    WHEN 'topic' THEN {article}.topic_text
END IS NULL)"""
_IN_NEWSPAPERS = "(%(newspaper_ids)s::bigint[] IS NULL OR {article}.newspaper_id = ANY (%(newspaper_ids)s))"
# The articles that a search by words found.
_IN_FOUND = "(%(found)s::bigint[] IS NULL OR {article}.id = ANY (%(found)s))"
_IN_DAYS = "(%(since)s::date IS NULL OR {day} >= %(since)s) AND (%(until)s::date IS NULL OR {day} <= %(until)s)"
_BOTH_ARTICLES = """JOIN {articles} AS left_article ON left_article.id = {pair}.left_id
JOIN {articles} AS right_article ON right_article.id = {pair}.right_id"""
_LATER_DAY = "greatest(left_article.date, right_article.date)"
_IN_SCOPE = f"{_IN_DAYS.replace('{day}', '{article}.date')} AND {_IN_NEWSPAPERS} AND {_IN_FOUND}"
_PAIR_IN_SCOPE = " AND ".join(
    [
        _IN_DAYS.format(day=_LATER_DAY),
        *(
            part.format(article=side)
            for part in (_IN_NEWSPAPERS, _IN_FOUND)
            for side in ("left_article", "right_article")
        ),
    ]
)
# Expressions on an article. They take the parameters of a scope. A digest is null where the text is empty.
_OF_ARTICLE = {
    "text": _TEXT,
    "digest": _DIGEST,
    "whole": _WHOLE,  # whether nothing is left out of the text
    "in_newspapers": _IN_NEWSPAPERS,
    "in_scope": _IN_SCOPE,  # of its newspapers, published from `since` to `until`, and found by its search
}


def article_sql(statement: str, *articles: str, pair: str = "pair") -> str:
    """Return a statement with the names in braces filled in.

    {articles} and {article_urls} are the tables; {ALIAS.text}, {ALIAS.digest}, {ALIAS.whole}, {ALIAS.in_newspapers} and
    {ALIAS.in_scope} are asked of each of the aliases `articles`; {pair.both_articles} joins left_article and
    right_article to the rows called `pair`, {pair.later_day} is the day of the later one of them, and {pair.in_scope}
    says whether a scope has them.
    """
    named = {
        alias: SimpleNamespace(**{name: sql.format(article=alias) for name, sql in _OF_ARTICLE.items()})
        for alias in articles
    }
    both = _BOTH_ARTICLES.format(articles=ARTICLES, pair=pair)
    named["pair"] = SimpleNamespace(both_articles=both, later_day=_LATER_DAY, in_scope=_PAIR_IN_SCOPE)
    return statement.format(articles=ARTICLES, article_urls=ARTICLE_URLS, **named)


def scope_parameters(window: Window) -> dict[str, Any]:
    """Return the parameters of a statement over the articles of a window. `first_day` bounds the later of a pair."""
    return {
        "first_day": window.first_day,
        "last_day": window.last_day,
        "newspaper_ids": list(window.newspaper_ids) if window.newspaper_ids is not None else None,
        "newer_than": window.newer_than,
        "boilerplate": window.boilerplate.value,
    }
