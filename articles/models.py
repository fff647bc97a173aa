"""Newspapers, their articles, and every URL under which an article was seen."""

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.db.models.functions import MD5

from articles.boilerplate.rules import LEAST_ARTICLES, SentenceKind
from articles.querysets import ArticleQuerySet

_URL = URLValidator(schemes=["http", "https"])


class Newspaper(models.Model):
    """A source of articles: a newspaper, an agency, a site. Its rows configure the spiders."""

    name = models.CharField(max_length=200, unique=True, help_text="As it is shown to editors.")
    host = models.CharField(
        max_length=253,
        blank=True,
        help_text="The host its articles stand on, without www. An import without a newspaper column finds it by this.",
    )
    title_affixes = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="What this newspaper puts before or after its headlines, beside its name. "
        "What begins with … needs no separator before it.",
    )
    learnt_affixes = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        editable=False,
        help_text="What stands before or after half of its headlines, as its articles showed. It is left out too.",
    )
    refused_affixes = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="What was learnt from its headlines, or would be, and belongs to them all the same.",
    )
    kept_url_parameters = ArrayField(
        models.CharField(max_length=100),
        default=list,
        blank=True,
        help_text="Parameters that tell its stories apart, such as sid in story?sid=123, and are never dropped when "
        "its URLs are compared. Those that its articles show are added; one that you take out is not added again.",
    )
    boilerplate_articles = models.PositiveSmallIntegerField(
        default=LEAST_ARTICLES,
        db_default=LEAST_ARTICLES,
        blank=True,
        validators=[MinValueValidator(2), MaxValueValidator(1_000)],
        help_text="In how many different articles of one week a sentence is boilerplate, 2 to 1,000. "
        "With 2, what two articles tell of one event is taken for boilerplate too.",
    )
    crawl = models.BooleanField(default=True, help_text="Whether `manage.py crawl` without names visits it.")
    feed_urls = ArrayField(
        models.URLField(max_length=2000, validators=[_URL]), default=list, blank=True, help_text="RSS or Atom feeds."
    )
    sitemap_urls = ArrayField(
        models.URLField(max_length=2000, validators=[_URL]), default=list, blank=True, help_text="Sitemaps or indexes."
    )
    section_urls = ArrayField(
        models.URLField(max_length=2000, validators=[_URL]),
        default=list,
        blank=True,
        help_text="Pages that list articles, such as the front page of a section.",
    )
    article_url_pattern = models.CharField(
        max_length=500,
        blank=True,
        help_text="A regular expression found in the URL of every article and in no other, such as /\\d{4}/\\d{2}/. "
        "Links from section pages and sitemaps that do not match are not visited. Empty: all are.",
    )

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["host"], name="newspaper_host")]

    def __str__(self) -> str:
        return self.name

    @property
    def affixes(self) -> list[str]:
        """Return what is left out at both ends of its headlines."""
        return [self.name, *self.title_affixes, *self.learnt_affixes]


class Article(models.Model):
    """One article as it was first stored, and never deleted.

    The writers are in articles/storage/: ingest.py alone stores articles, renormalization.py and reextraction.py alone
    bring stored ones up to date, and boilerplate_marks.py alone marks their boilerplate, which changes nothing of what
    was stored.
    """

    class DateSource(models.TextChoices):
        """Where the day of publication was read."""

        JSON_LD = "json-ld", "the page's linked data"
        META = "meta", "the page's meta elements"
        TIME = "time", "a time element of the page"
        TEXT = "htmldate", "the text of the page"
        LINK = "link", "the feed or sitemap that named the page"
        IMPORT = "import", "the imported file"

    newspaper = models.ForeignKey(Newspaper, on_delete=models.PROTECT, related_name="articles")
    external_id = models.CharField(max_length=200, blank=True, help_text="Its id in the collection it came from.")
    date = models.DateField(help_text="The day of publication.")
    headline = models.TextField(blank=True)
    url = models.TextField(help_text="The URL under which it was first stored.")
    content = models.TextField()
    normalized_title = models.TextField(editable=False)
    normalized_text = models.TextField(editable=False)
    text_digest = models.UUIDField(
        null=True, editable=False, help_text="Of the normalised text; none if that is empty."
    )
    normalizer_version = models.PositiveSmallIntegerField(editable=False)
    stored_at = models.DateTimeField(auto_now_add=True)
    language = models.CharField(max_length=8, blank=True, help_text="ISO 639 code, detected; empty if in doubt.")
    byline = models.TextField(blank=True, help_text="The authors, as the page names them.")
    agency = models.CharField(max_length=100, blank=True, help_text="The news agency that the text is credited to.")
    dateline = models.CharField(max_length=200, blank=True, help_text="Place and day before the first sentence.")
    date_source = models.CharField(max_length=8, blank=True, choices=DateSource.choices)
    date_doubt = models.CharField(max_length=200, blank=True, help_text="Why the day may be wrong; empty if sure.")
    paywalled = models.BooleanField(default=False, help_text="Whether the page showed the beginning only.")
    extractor_version = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="Of the extraction that its text comes from; 0 for imported texts."
    )
    boilerplate = models.JSONField(
        default=list,
        db_default=[],
        editable=False,
        help_text="Stretches of the content that are boilerplate: start, end, and whether story mode keeps them here.",
    )
    # An empty text is what an article of nothing but boilerplate has.
    story_text = models.TextField(  # noqa: DJ001
        null=True, editable=False, help_text="The normalised text without what story mode removes; none if that is all."
    )
    story_digest = models.UUIDField(null=True, editable=False, help_text="Of story_text; none if that is empty.")
    topic_text = models.TextField(  # noqa: DJ001
        null=True, editable=False, help_text="The normalised text without any boilerplate; none if that is all."
    )
    topic_digest = models.UUIDField(null=True, editable=False, help_text="Of topic_text; none if that is empty.")
    revision = models.BigIntegerField(
        default=0,
        editable=False,
        help_text="Counts up over all articles, whenever one is stored or what the detection compares of it changes.",
    )

    objects = ArticleQuerySet.as_manager()

    class Meta:
        ordering = ["date", "id"]
        indexes = [
            models.Index(fields=["date", "id"], name="article_date"),
            models.Index(fields=["revision"], name="article_revision"),
            models.Index(fields=["text_digest"], name="article_text_digest"),
            models.Index("newspaper", "date", MD5("normalized_title"), name="article_title"),
            models.Index(fields=["external_id"], name="article_external_id", condition=~models.Q(external_id="")),
        ]
        # By the database, so that no writer can forget it.
        triggers = [
            pgtrigger.Trigger(
                name="revision",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert
                | pgtrigger.UpdateOf(  # type: ignore[no-untyped-call]
                    "newspaper_id",
                    "date",
                    "content",
                    "normalized_title",
                    "normalized_text",
                    "story_text",
                    "topic_text",
                ),
                func="NEW.revision = nextval('articles_article_revision'); RETURN NEW;",
            ),
            # Marks are places in one text, by what its week repeats; another one has none until it is looked at.
            pgtrigger.Trigger(
                name="boilerplate",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf(  # type: ignore[no-untyped-call]
                    "newspaper_id", "date", "content", "normalized_text"
                ),
                condition=pgtrigger.AnyChange("newspaper_id", "date", "content", "normalized_text"),
                func="NEW.boilerplate = '[]'; NEW.story_text = NULL; NEW.story_digest = NULL; "
                "NEW.topic_text = NULL; NEW.topic_digest = NULL; RETURN NEW;",
            ),
        ]

    def __str__(self) -> str:
        return self.headline or "(no title)"


class ArticleURL(models.Model):
    """A URL under which an article was seen; it belongs to one article for good."""

    class Kind(models.TextChoices):
        PAGE = "page", "page"
        FEED = "feed", "feed link"
        REDIRECT = "redirect", "redirect target"
        CANONICAL = "canonical", "canonical link"
        AMP = "amp", "AMP page"
        IMPORT = "import", "imported"

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="urls")
    url = models.TextField(help_text="As it was seen.")
    key = models.UUIDField(unique=True, editable=False, help_text="UUID version 5 of the canonicalised URL.")
    normalized_url = models.TextField(editable=False, help_text="The lossy form that the url pass compares.")
    kind = models.CharField(max_length=9, choices=Kind.choices)
    seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name = "article URL"
        indexes = [models.Index(MD5("normalized_url"), name="article_url_normalized")]

    def __str__(self) -> str:
        return self.url


class LearntParameter(models.Model):
    """A URL parameter that showed itself to tell a newspaper's stories apart, with the URLs of two of them."""

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="learnt_parameters")
    name = models.CharField(max_length=100, help_text="In lower case.")
    first_url = models.TextField(verbose_name="URL of one story")
    second_url = models.TextField(verbose_name="URL of another story")
    learnt_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "name"], name="learnt_parameter_once")]

    def __str__(self) -> str:
        return self.name


class ArticlePage(models.Model):
    """The page that an article was extracted from, compressed; extracting it again needs no fetching."""

    article = models.OneToOneField(Article, on_delete=models.CASCADE, primary_key=True, related_name="page")
    url = models.TextField(help_text="Where it was fetched, after redirects.")
    content_type = models.CharField(max_length=200, blank=True, help_text="The HTTP header, which names the charset.")
    body = models.BinaryField(help_text="As it was fetched, compressed with gzip.")
    published = models.DateField(null=True, help_text="The day that its feed or sitemap gave it, if any did.")
    fetched_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.url


class BoilerplateWeek(models.Model):
    """What the boilerplate of a newspaper's week was found in: it is looked for again when that changes."""

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="+")
    week = models.DateField(help_text="Its Monday.")
    fingerprint = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["newspaper", "week"], name="one_row_a_week")]

    def __str__(self) -> str:
        return f"{self.newspaper}, week of {self.week}"


class RepeatedSentence(models.Model):
    """A sentence that several different articles of a newspaper's week have. Kept by storage/boilerplate_marks.py."""

    class Kind(models.TextChoices):
        """What it is, or why it is no boilerplate."""

        BOILERPLATE = SentenceKind.BOILERPLATE.value, "boilerplate"
        QUOTATION = SentenceKind.QUOTATION.value, "quotation"
        WHITELISTED = SentenceKind.WHITELISTED.value, "whitelisted"

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="repeated_sentences")
    week = models.DateField(help_text="Its Monday.")
    digest = models.UUIDField(help_text="Of the normalised sentence.")
    sentence = models.TextField(help_text="As its first article has it.")
    kind = models.CharField(max_length=11, choices=Kind.choices)
    articles = models.PositiveIntegerField(help_text="Articles of the week that have it.")
    article_ids = ArrayField(models.BigIntegerField(), help_text="These articles, the first one first.")

    class Meta:
        ordering = ["-week", "-articles", "id"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "week", "digest"], name="one_row_a_sentence")]
        indexes = [models.Index(fields=["newspaper", "digest"], name="repeated_sentence")]

    def __str__(self) -> str:
        return self.sentence


class WhitelistedSentence(models.Model):
    """A sentence that an editor wants kept in a newspaper's articles, however often it stands there."""

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="whitelisted_sentences")
    digest = models.UUIDField(help_text="Of the normalised sentence.")
    sentence = models.TextField()
    whitelisted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    whitelisted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-whitelisted_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "digest"], name="whitelisted_once")]

    def __str__(self) -> str:
        return self.sentence
