"""Profiles, runs, pairs with their evidence, clusters, and the history of decisions."""

from dedup.models.decisions import Batch, BatchItem, ConfirmedArticle, Decision, Link, SeparateArticles
from dedup.models.derived import (
    ArticleSentences,
    ArticleShingles,
    ChangedArticle,
    CrowdedArticle,
    DenseGroup,
    GroupMember,
    HeadlineForm,
    KeptPairs,
    NewspaperMonth,
    Series,
    ShingleCounts,
    ShingleSample,
    Watermark,
)
from dedup.models.pairs import (
    Cluster,
    Evidence,
    Lease,
    Membership,
    OpenQuestion,
    Pair,
    Postponement,
    QuestionCount,
    Verdict,
)
from dedup.models.readings import SampledPair, SampleLabel, SecondReading, ValidationSample
from dedup.models.reports import CorpusExport, CorpusPart, FittedModel, Lesson, StoredReport
from dedup.models.runs import Boilerplate, DetectionRun, Keep, Profile, ProfileRule, RunBlock, RunPhase, Worker
from dedup.models.users import Delivery, PageFetch, Route, SavedView, Token, TokenUse, Webhook
