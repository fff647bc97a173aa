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
from articles.models.jobs import FileImport, Job, RejectedRow, UploadedPart
from articles.models.newspapers import (
    BoilerplateWeek,
    ExtractionRule,
    LearntParameter,
    Newspaper,
    NewspaperAlias,
    NewspaperMerge,
    RepeatedSentence,
    WhitelistedSentence,
)
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
