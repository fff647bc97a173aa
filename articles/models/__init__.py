"""Newspapers, their articles, and every URL under which an article was seen."""

from __future__ import annotations

from articles.models.articles import (
    Article,
    ArticlePage,
    ArticleRevision,
    ArticleURL,
    DeclaredURL,
    FollowingPage,
    HeadlineVariant,
    in_order,
)
from articles.models.boilerplate import BoilerplateWeek, RepeatedSentence, WhitelistedSentence
from articles.models.imports import FileImport, RejectedRow, UploadedPart
from articles.models.jobs import Job
from articles.models.newspapers import ExtractionRule, LearntParameter, Newspaper, NewspaperAlias, NewspaperMerge
from articles.models.removals import Removal, RemovedIdentity, WithheldRow, Withholding

__all__ = [
    "Article",
    "ArticlePage",
    "ArticleRevision",
    "ArticleURL",
    "BoilerplateWeek",
    "DeclaredURL",
    "ExtractionRule",
    "FileImport",
    "FollowingPage",
    "HeadlineVariant",
    "Job",
    "LearntParameter",
    "Newspaper",
    "NewspaperAlias",
    "NewspaperMerge",
    "RejectedRow",
    "Removal",
    "RemovedIdentity",
    "RepeatedSentence",
    "UploadedPart",
    "WhitelistedSentence",
    "WithheldRow",
    "Withholding",
    "in_order",
]
