"""Newspapers, their articles, and every URL under which an article was seen."""

from articles.models.articles import Article as Article
from articles.models.articles import ArticlePage as ArticlePage
from articles.models.articles import ArticleRevision as ArticleRevision
from articles.models.articles import ArticleURL as ArticleURL
from articles.models.articles import ArticleWords as ArticleWords
from articles.models.articles import AttachedCopy as AttachedCopy
from articles.models.articles import DeclaredURL as DeclaredURL
from articles.models.articles import FollowingPage as FollowingPage
from articles.models.articles import HeadlineVariant as HeadlineVariant
from articles.models.articles import in_order as in_order
from articles.models.jobs import FileImport as FileImport
from articles.models.jobs import Job as Job
from articles.models.jobs import RejectedRow as RejectedRow
from articles.models.jobs import UploadedPart as UploadedPart
from articles.models.newspapers import BoilerplateWeek as BoilerplateWeek
from articles.models.newspapers import ExtractionRule as ExtractionRule
from articles.models.newspapers import LearntParameter as LearntParameter
from articles.models.newspapers import Newspaper as Newspaper
from articles.models.newspapers import NewspaperAlias as NewspaperAlias
from articles.models.newspapers import NewspaperMerge as NewspaperMerge
from articles.models.newspapers import RepeatedSentence as RepeatedSentence
from articles.models.newspapers import WhitelistedSentence as WhitelistedSentence
from articles.models.removals import Removal as Removal
from articles.models.removals import RemovedIdentity as RemovedIdentity
from articles.models.removals import WithheldRow as WithheldRow
from articles.models.removals import Withholding as Withholding
