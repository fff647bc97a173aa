"""Profiles, runs, pairs with their evidence, clusters, and the history of decisions."""

from __future__ import annotations

from dedup.models.caches import (
    ArticleSentences,
    ArticleShingles,
    ChangedArticle,
    NewspaperMonth,
    ShingleSample,
    Watermark,
)
from dedup.models.decisions import Batch, BatchItem, ConfirmedArticle, Decision, Link, SeparateArticles
from dedup.models.pairs import Cluster, Evidence, Membership, Pair, Verdict
from dedup.models.profiles import Boilerplate, Keep, Profile, ProfileRule
from dedup.models.questions import Lease, OpenQuestion, Postponement, QuestionCount
from dedup.models.readings import SampledPair, SampleLabel, SecondReading, ValidationSample
from dedup.models.reports import CorpusExport, CorpusPart, FittedModel, Lesson, StoredReport
from dedup.models.runs import DetectionRun, RunBlock, RunPhase, Worker
from dedup.models.series_and_groups import CrowdedArticle, DenseGroup, GroupMember, HeadlineForm, Series
from dedup.models.users import Delivery, PageFetch, SavedView, Token, TokenUse, Webhook
