"""The tables and columns that SQL of the detection names are those of the models."""

from articles.models import Article, ArticleURL
from dedup.detection.article_sql import ARTICLE_URLS, ARTICLES, article_sql


def test_the_tables_are_those_of_the_models() -> None:
    assert Article._meta.db_table == ARTICLES
    assert ArticleURL._meta.db_table == ARTICLE_URLS


def test_a_statement_names_the_articles_of_a_pair_and_their_scope() -> None:
    statement = "SELECT {pair.later_day} FROM found {pair.both_articles} WHERE {left_article.in_newspapers}"
    assert article_sql(statement, "left_article", pair="found") == (
        "SELECT greatest(left_article.date, right_article.date) FROM found "
        "JOIN articles_article AS left_article ON left_article.id = found.left_id\n"
        "JOIN articles_article AS right_article ON right_article.id = found.right_id "
        "WHERE (%(newspaper_ids)s::bigint[] IS NULL OR left_article.newspaper_id = ANY (%(newspaper_ids)s))"
    )
