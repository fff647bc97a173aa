"""Articles, and the URLs, headlines and pages under which they came."""

import pgtrigger
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models.functions import MD5, Upper
from django.utils import timezone

from articles.fields import FIELDS, FOUND, LIMITS
from articles.models.newspapers import EMPTY_TEXT, Newspaper
from articles.normalization.times import Precision, PublicationTime, is_before
from articles.querysets import ArticleQuerySet


class ArrivedArticle(models.Model):
    """What an article comes with, as it is stored."""

    class DateSource(models.TextChoices):
        """Where the publication date was read."""

        JSON_LD = "json-ld", "the page's JSON-LD data"
        META = "meta", "the page's meta tags"
        TIME = "time", "a time element on the page"
        TEXT = "htmldate", "the text of the page"
        RULE = "rule", "the newspaper’s own extraction rule"
        FEED = "feed", "the feed or list that named the page"
        SITEMAP = "sitemap", "the sitemap that listed the page"
        IMPORT = "import", "the imported file"

    external_id = models.CharField(
        max_length=LIMITS["external_id"], blank=True, help_text="Its id in the collection it came from."
    )
    date = models.DateField(help_text="The publication date.")
    published_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="The time of publication; null if only the date is known. Without a known offset, the local time as "
        "if it were UTC.",
    )
    published_offset = models.SmallIntegerField(
        null=True,
        editable=False,
        help_text="The source's offset from UTC in minutes, positive in the east; null if it names no time zone.",
    )
    published_precision = models.CharField(
        max_length=6,
        choices=[(precision.value, precision.value) for precision in Precision],
        default=Precision.DAY.value,
        db_default=Precision.DAY.value,
        editable=False,
    )
    headline = models.TextField(blank=True)
    url = models.TextField(help_text="The URL it was first stored under.")
    content = models.TextField()
    language = models.CharField(
        max_length=LIMITS["language"], blank=True, help_text="The detected ISO 639 code; empty if uncertain."
    )
    byline = models.TextField(blank=True, help_text="The authors, as the page names them.")
    agency = models.CharField(
        max_length=LIMITS["agency"], blank=True, help_text="The news agency credited with the text."
    )
    dateline = models.CharField(
        max_length=LIMITS["dateline"], blank=True, help_text="The place and date before the first sentence."
    )
    date_source = models.CharField(
        max_length=8,
        blank=True,
        choices=DateSource.choices,
        help_text="Where the date was read, and the time of publication if it is known.",
    )
    date_doubt = models.CharField(
        max_length=LIMITS["date_doubt"], blank=True, help_text="Why the date may be wrong; empty if certain."
    )
    text_doubt = models.CharField(
        max_length=LIMITS["text_doubt"],
        **EMPTY_TEXT,
        help_text="Why the text may be incomplete, or not the article's; empty if certain.",
    )
    paywalled = models.BooleanField(default=False, help_text="Whether the page showed only the beginning.")
    extractor_version = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="The version of the extraction rules used; 0 for imported texts."
    )
    # Text, not jsonb, which would drop repeated names, the order of names, and the spelling of numbers (1.0, 1e5).
    extra_columns = models.TextField(
        **EMPTY_TEXT,
        editable=False,
        help_text="The columns of its file that have no field here: a JSON object, spelled as in the file; "
        "empty if there are none.",
    )

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.headline or "(no title)"

    @property
    def publication_time(self) -> PublicationTime | None:
        """The time of publication as its source gave it; None if only the day is known."""
        if self.published_at is None:
            return None
        return PublicationTime(self.published_at, self.published_offset, Precision(self.published_precision))

    @property
    def labelled_details(self) -> list[tuple[str, str]]:
        """What pages show of its details: labels and texts, without those that are unknown."""
        return [(field.label, text) for field in FOUND if field.label and (text := getattr(self, field.name))]


class Article(ArrivedArticle):
    """One article as it was first stored. Only an admin's removal deletes it: newsdedup_site/privacy/.

    Only four modules in articles/storage/ write articles: ingest.py stores them, renormalization.py and reextraction.py
    bring stored ones up to date, and boilerplate_marks.py marks their boilerplate and leaves the content unchanged.
    removed.py takes its texts away, and puts them back unchanged.
    """

    newspaper = models.ForeignKey(Newspaper, on_delete=models.PROTECT, related_name="articles")
    # Here, because to measure a long text PostgreSQL has to read and unpack it.
    characters = models.IntegerField(
        null=True,
        editable=False,
        help_text="The length of the content; null if it was stored before lengths were kept.",
    )
    normalized_title = models.TextField(editable=False)
    normalized_text = models.TextField(editable=False)
    text_digest = models.UUIDField(
        null=True, editable=False, help_text="A digest of the normalised text; null if that text is empty."
    )
    normalizer_version = models.PositiveSmallIntegerField(editable=False)
    stored_at = models.DateTimeField(auto_now_add=True)
    boilerplate = models.JSONField(
        default=list,
        db_default=[],
        editable=False,
        help_text="The parts of the content that are boilerplate: start, end, and whether story mode keeps the part.",
    )
    # Null, because an empty text means something else: the article is nothing but boilerplate.
    story_text = models.TextField(  # noqa: DJ001
        null=True,
        editable=False,
        help_text="The normalised text without what story mode removes; null if it removes nothing.",
    )
    story_digest = models.UUIDField(
        null=True, editable=False, help_text="A digest of story_text; null if that is null or empty."
    )
    topic_text = models.TextField(  # noqa: DJ001
        null=True, editable=False, help_text="The normalised text without any boilerplate; null if it has none."
    )
    topic_digest = models.UUIDField(
        null=True, editable=False, help_text="A digest of topic_text; null if that is null or empty."
    )
    withheld = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Whether an admin withholds it, or it is being removed: its texts are not in this row then.",
    )
    revision = models.BigIntegerField(
        default=0,
        editable=False,
        help_text="A counter across all articles, raised when an article is stored or its compared text changes.",
    )

    objects = ArticleQuerySet.as_manager()

    class Meta:
        ordering = ["date", "id"]
        indexes = [
            # With the time, by which stories are ordered, so that a list reads few articles.
            models.Index(fields=["date", "id"], include=["published_at"], name="article_date"),
            # Where and when an article was published, for those that are joined to it.
            models.Index(fields=["id"], include=["newspaper", "date"], name="article_place"),
            models.Index(fields=["revision"], name="article_revision"),
            models.Index(fields=["text_digest"], name="article_text_digest"),
            models.Index(fields=["normalizer_version"], name="article_normalizer"),
            models.Index("newspaper", "date", MD5("normalized_title"), name="article_title"),
            models.Index(fields=["external_id"], name="article_external_id", condition=~models.Q(external_id="")),
            # What editors may want to check is rare; without these, the list would be read to its end.
            models.Index(fields=["-date", "-id"], condition=~models.Q(date_doubt=""), name="article_uncertain_date"),
            models.Index(fields=["-date", "-id"], condition=~models.Q(text_doubt=""), name="article_uncertain_text"),
            models.Index(fields=["-date", "-id"], condition=models.Q(paywalled=True), name="article_paywalled"),
            models.Index(fields=["-date", "-id"], condition=~models.Q(agency=""), name="article_of_agency"),
            # For a search without regard to case, which compares upper-case letters.
            GinIndex(OpClass(Upper("headline"), name="gin_trgm_ops"), name="article_headline_words"),
        ]
        constraints = [
            models.CheckConstraint(
                name="article_publication_time",
                condition=models.Q(published_precision="day", published_at=None, published_offset=None)
                | models.Q(published_precision__in=["minute", "second"], published_at__isnull=False),
            )
        ]
        # In the database, so that no writer can forget them.
        triggers = [
            pgtrigger.Trigger(
                name="revision",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert
                | pgtrigger.UpdateOf(  # type: ignore[no-untyped-call]
                    "newspaper_id",
                    *(field.name for field in FIELDS if field.is_compared),
                    *("normalized_title", "normalized_text", "story_text", "topic_text"),
                ),
                func="NEW.revision = nextval('articles_article_revision'); RETURN NEW;",
            ),
            pgtrigger.Trigger(
                name="characters",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("content"),  # type: ignore[no-untyped-call]
                func="NEW.characters = length(NEW.content); RETURN NEW;",
            ),
            # Marks are positions in one text, found in one week: a changed text has none until its week is searched.
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


def in_order(one: Article, other: Article) -> tuple[Article, Article]:
    """Return the two articles of a pair as pages and files have them: first, on the left, the one published first.

    The order of `is_before`; where days and times do not say it, the one stored first is the first.
    """
    left, right = sorted((one, other), key=lambda article: article.pk)
    later_first = is_before((right.date, right.publication_time), (left.date, left.publication_time))
    return (right, left) if later_first else (left, right)


class ArticleURL(models.Model):
    """A URL under which an article was seen. It belongs to one article and never moves to another."""

    class Kind(models.TextChoices):
        PAGE = "page", "page"
        FEED = "feed", "feed link"
        REDIRECT = "redirect", "redirect target"
        CANONICAL = "canonical", "canonical link"
        AMP = "amp", "AMP page"
        IMPORT = "import", "imported"

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="urls")
    url = models.TextField(help_text="The URL as it was seen.")
    key = models.UUIDField(unique=True, editable=False, help_text="UUID version 5 of the canonicalised URL.")
    normalized_url = models.TextField(editable=False, help_text="The reduced form that the url pass compares.")
    kind = models.CharField(max_length=9, choices=Kind.choices)
    seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name = "article URL"
        indexes = [
            models.Index(MD5("normalized_url"), name="article_url_normalized"),
            GinIndex(fields=["normalized_url"], opclasses=["gin_trgm_ops"], name="article_url_parts"),
        ]

    def __str__(self) -> str:
        return self.url


class DeclaredURL(models.Model):
    """A URL that an article's page declares as its own, not yet believed. Written by storage/ingest.py."""

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="declared_urls")
    url = models.TextField(help_text="The URL as it was declared.")
    key = models.UUIDField(editable=False, help_text="UUID version 5 of the canonicalised URL.")
    kind = models.CharField(max_length=9, choices=ArticleURL.Kind.choices)
    seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name = "declared URL"
        constraints = [models.UniqueConstraint(fields=["key", "article"], name="declared_url_key")]

    def __str__(self) -> str:
        return self.url


class HeadlineVariant(models.Model):
    """Another headline under which a stored article came again. Written by storage/ingest.py."""

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="headline_variants")
    headline = models.TextField()
    day = models.DateField(help_text="The publication date that came with this headline.")
    url = models.TextField(help_text="The URL that it came under.")
    seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        # By the digest, because a long headline does not fit into an index.
        constraints = [models.UniqueConstraint("article", MD5("headline"), name="headline_variant_once")]

    def __str__(self) -> str:
        return self.headline


class ArticleWords(models.Model):
    """The words of an article as a search finds them. A cache, written by storage/search_index.py."""

    article = models.OneToOneField(
        Article, primary_key=True, on_delete=models.CASCADE, db_constraint=False, related_name="words"
    )
    revision = models.BigIntegerField(help_text="The revision of the article whose words they are.")
    reading = models.CharField(max_length=20, help_text="How they were read: a language of the text search, or alike.")
    words = SearchVectorField(help_text="Those of the headline have the weight A.")

    class Meta:
        verbose_name_plural = "article words"
        indexes = [
            models.Index(fields=["revision"], name="article_words_revision"),
            models.Index(fields=["reading"], name="article_words_reading"),
            GinIndex(fields=["words"], name="article_words"),
        ]

    def __str__(self) -> str:
        return f"Words of article {self.article_id}"


class AttachedCopy(ArrivedArticle):
    """An article that was not stored as one of its own, as its newspaper wants it: all that came of it.

    Its URLs are among those of the article that it is attached to, and its headline is another one of it. Written by
    storage/ingest.py; jobs/attached_copies.py makes an article of it.
    """

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="attached_copies")
    attached_by = models.CharField(max_length=8, choices=Newspaper.Attach.choices)
    attached_at = models.DateTimeField()
    seen = models.JSONField(
        help_text="`urls`, those that its page has `declared`, each with its kind, and further `headlines`."
    )
    page = models.TextField(blank=True, help_text="Its page and the following ones as rows in JSON; empty without one.")
    page_fetched_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "attached copies"
        constraints = [models.UniqueConstraint(MD5("url"), name="attached_once")]


class ArticlePage(models.Model):
    """The page an article was extracted from, compressed: extracting it again needs no download."""

    article = models.OneToOneField(Article, on_delete=models.CASCADE, primary_key=True, related_name="page")
    url = models.TextField(help_text="The URL it was fetched from, after redirects.")
    content_type = models.CharField(
        max_length=200, blank=True, help_text="The HTTP Content-Type header, which names the charset."
    )
    body = models.BinaryField(help_text="The page as it was fetched, compressed with gzip.")
    published = models.DateField(null=True, help_text="The date given by its feed or sitemap, if any.")
    published_time = models.CharField(
        max_length=25, **EMPTY_TEXT, help_text="The time given by its feed or sitemap, if any, in ISO 8601."
    )
    in_sitemap = models.BooleanField(
        default=False, db_default=False, help_text="Whether a sitemap gave that date; otherwise a feed did."
    )
    feed_entry = models.BinaryField(
        default=b"",
        db_default=b"",
        help_text="What its feed carries of the article: JSON, compressed with gzip; empty if its feed has no text. "
        "The page is empty if the feed alone has the article.",
    )
    fetched_at = models.DateTimeField(default=timezone.now)
    # Without an index: it is only compared with the rule of the newspaper, page by page.
    rule = models.ForeignKey(
        "ExtractionRule",
        null=True,
        db_index=False,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The newspaper's own rule that extracted the article; null if none did.",
    )

    class Meta:
        # For the articles that a crawl fetches again.
        indexes = [models.Index(fields=["fetched_at"], name="article_page_fetched")]

    def __str__(self) -> str:
        return self.url


class FollowingPage(models.Model):
    """A further page of an article that spans several, as it was fetched."""

    article_page = models.ForeignKey(ArticlePage, on_delete=models.CASCADE, related_name="following")
    number = models.PositiveSmallIntegerField(help_text="Its place among the pages; the article's own page is 1.")
    url = models.TextField(help_text="The URL it was fetched from, after redirects.")
    content_type = models.CharField(max_length=200, blank=True, help_text="The HTTP Content-Type header.")
    body = models.BinaryField(help_text="The page as it was fetched, compressed with gzip.")

    class Meta:
        ordering = ["article_page", "number"]
        constraints = [models.UniqueConstraint(fields=["article_page", "number"], name="following_page_once")]

    def __str__(self) -> str:
        return self.url


class ArticleRevision(models.Model):
    """What a later visit to the page of a stored article found: another text, or that the article is gone.

    The article itself stays as it was first stored, and detection reads only that. Written by storage/revisions.py,
    deleted only with its article, and changed only if its page is extracted again by other rules.
    """

    class Kind(models.TextChoices):
        CHANGED = "changed", "changed"
        GONE = "gone", "gone"
        BACK = "back", "back again"

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField(help_text="1 for the first one after the article as it was stored.")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    seen_at = models.DateTimeField(help_text="When its page was fetched.")
    updated_at = models.DateTimeField(
        null=True, help_text="The time of the change that a feed or sitemap gave; null if none did."
    )
    headline = models.TextField(blank=True, help_text="Empty if the article is gone.")
    content = models.TextField(blank=True, help_text="Empty if the article is gone.")
    note = models.CharField(max_length=200, blank=True, help_text="Why the article counts as gone.")
    url = models.TextField(help_text="The URL that the page was fetched from, after redirects.")
    content_type = models.CharField(max_length=200, blank=True)
    body = models.BinaryField(help_text="The page as it was fetched, compressed with gzip; empty if gone.")
    extractor_version = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["article", "number"]
        constraints = [models.UniqueConstraint(fields=["article", "number"], name="revision_number")]

    def __str__(self) -> str:
        return f"{self.article_id}, revision {self.number}"
