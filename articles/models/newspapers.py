"""Newspapers, their other names, their merges, their boilerplate, and what was learnt about their URLs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.db.models.functions import Upper

from articles.boilerplate.rules import LEAST_ARTICLES, SentenceKind
from articles.querysets import NewspaperQuerySet

# Of a text column that was added later.
EMPTY_TEXT: dict[str, Any] = {"blank": True, "default": "", "db_default": ""}
_URL = URLValidator(schemes=["http", "https"])


def _list(label: str, help_text: str, *, most: int = 200, editable: bool = True) -> ArrayField[list[str], list[str]]:
    texts = models.CharField(max_length=most)
    return ArrayField(texts, verbose_name=label, default=list, blank=True, editable=editable, help_text=help_text)


def _urls(label: str, help_text: str) -> ArrayField[list[str], list[str]]:
    urls = models.URLField(max_length=2000, validators=[_URL])
    return ArrayField(urls, verbose_name=label, default=list, blank=True, help_text=help_text)


def by_user() -> Any:
    """Return the column of who did something that the command line does, too."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Null: on the command line.",
    )


class Newspaper(models.Model):
    """A source of articles: a newspaper, an agency, a site. Its rows configure the spiders."""

    class Attach(models.TextChoices):
        """Which arriving articles are attached to a stored one; see SameArticles in storage/known_articles.py."""

        OFF = "", "off"
        ADDRESS = "address", "same address"
        HEADLINE = "headline", "same address, or same headline on one day"

    # The label and the sentence of help of each field are those of the page of its settings.
    name = models.CharField(max_length=200, unique=True, help_text="The name that editors see.")
    host = models.CharField(
        max_length=253,
        blank=True,
        help_text="The host of its articles’ URLs, without www; files that name no newspaper are matched by it.",
    )
    title_affixes = _list(
        "text around its headlines",
        "What it adds before or after headlines apart from its name, one per line; after …, no separator is needed.",
    )
    learnt_affixes = _list(
        "learnt affixes",
        "Text found before or after at least half of its headlines. It is removed too.",
        editable=False,
    )
    refused_affixes = _list(
        "text that belongs to headlines",
        "What is, or would be, learnt as added but is part of the headline, one per line.",
    )
    kept_url_parameters = _list(
        "parameters that identify an article",
        "Such as sid in story?sid=123, one per line: they are never dropped when URLs are compared, and one that you "
        "remove is not learnt again.",
        most=100,
    )
    boilerplate_articles = models.PositiveSmallIntegerField(
        "articles that make a sentence boilerplate",
        default=LEAST_ARTICLES,
        db_default=LEAST_ARTICLES,
        blank=True,
        validators=[MinValueValidator(2), MaxValueValidator(1_000)],
        help_text="So many different articles of one week must have it, 2 to 1,000; with 2, what two articles say of "
        "one event counts too.",
    )
    attach = models.CharField(
        "attach copies",
        max_length=8,
        choices=Attach.choices,
        **EMPTY_TEXT,
        help_text="Which copies of stored articles are attached to them when they arrive: AMP, mobile and print pages, "
        "and other tracking parameters; or also the same headline with the same text.",
    )
    crawl = models.BooleanField(
        "crawl it with all others",
        default=True,
        help_text="“Crawl all now”, and manage.py crawl without names, visit it.",
    )
    feed_urls = _urls("feeds", "RSS or Atom feeds, one address per line.")
    sitemap_urls = _urls("sitemaps", "Sitemaps or sitemap indexes.")
    section_urls = _urls("section pages", "Pages that list articles, such as the front page of a section.")
    article_url_pattern = models.CharField(
        "article URL pattern",
        max_length=500,
        blank=True,
        help_text="A regular expression that is found in every article’s URL and in no other, such as "
        "/\\d{4}/\\d{2}/; if empty, all links of sitemaps and section pages are visited.",
    )
    revision_days = models.PositiveSmallIntegerField(
        "days in which articles are fetched again",
        null=True,
        blank=True,
        validators=[MaxValueValidator(365)],
        help_text="So long a crawl fetches a stored article again to keep its later versions, 0 to 365; if empty, as "
        "REVISION_DAYS says.",
    )
    teasers = models.BooleanField(
        "store only what the feeds say, and never fetch pages",
        default=False,
        db_default=False,
        help_text="Headlines and descriptions in the feeds are its articles then, and other sources are not read.",
    )
    # The pages of its articles are deleted then; the articles stay, but cannot be extracted again.
    page_days = models.PositiveSmallIntegerField(
        "days",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Counted from the day on which a page was fetched. Empty: for ever.",
    )
    extraction_rule = models.ForeignKey(
        "ExtractionRule",
        null=True,
        editable=False,
        on_delete=models.RESTRICT,
        related_name="+",
        help_text="Its own rule for extracting its pages, as last saved; null if it has none.",
    )
    # A merged newspaper keeps its row as it was, so that undoing the merge restores it.
    merged_into = models.ForeignKey(
        "self", null=True, editable=False, on_delete=models.PROTECT, related_name="merged_newspapers"
    )

    objects = NewspaperQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["host"], name="newspaper_host")]

    def __str__(self) -> str:
        return self.name

    @property
    def affixes(self) -> list[str]:
        """Return the texts that are removed at either end of its headlines."""
        return [self.name, *self.title_affixes, *self.learnt_affixes]

    @property
    def current(self) -> Newspaper:
        """The newspaper that has its articles now: itself, or the one it was merged into."""
        return self if self.merged_into is None else self.merged_into.current


class Collection(models.Model):
    """Newspapers that count as one wherever a newspaper can be chosen. Written by storage/collections.py.

    A newspaper is in at most one collection of a kind, so that whatever counts by kind counts each newspaper once.
    """

    kind = models.CharField(
        "what it groups by",
        max_length=50,
        help_text="Owner, edition, country, or a word of your own, such as paper or region. A newspaper is in at most "
        "one collection of each kind.",
    )
    name = models.CharField(max_length=200, help_text="Such as the name of the owner or of the country.")
    newspapers = models.ManyToManyField(Newspaper, related_name="collections", help_text="Those that belong to it.")

    class Meta:
        ordering = ["kind", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "name"],
                name="collection_once",
                violation_error_message="There is a collection of this kind and name already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.kind})"


class NewspaperAlias(models.Model):
    """Another name of a newspaper, or another host: articles that come under it belong to that newspaper.

    The names and hosts of newspapers that were merged into it need no row, see Newspaper.current.
    """

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="aliases")
    alias = models.CharField(
        max_length=253,
        unique=True,
        help_text="Another name as files write it, or another host without www. Names are case-sensitive.",
    )

    class Meta:
        ordering = ["alias"]
        verbose_name = "alias"
        verbose_name_plural = "aliases"

    def __str__(self) -> str:
        return self.alias


class NewspaperMerge(models.Model):
    """A newspaper merged into another one, with all that undoing it needs. Written by storage/newspaper_merges.py."""

    merged = models.ForeignKey(Newspaper, on_delete=models.PROTECT, related_name="+")
    into = models.ForeignKey(Newspaper, on_delete=models.PROTECT, related_name="+")
    articles = models.PositiveIntegerField(help_text="The number of articles that moved.")
    article_ids = ArrayField(models.BigIntegerField(), default=list, help_text="The ids of these articles, ascending.")
    carried = models.JSONField(help_text="The changes to the settings of the newspaper it was merged into.")
    merged_at = models.DateTimeField(auto_now_add=True)
    merged_by = by_user()
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["merged"], condition=models.Q(undone_at=None), name="merged_once")
        ]

    def __str__(self) -> str:
        return f"{self.merged} into {self.into}"


class LearntParameter(models.Model):
    """A URL parameter that was found to identify a newspaper's articles, with the URLs of two of them."""

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="learnt_parameters")
    name = models.CharField(max_length=100, help_text="In lower case.")
    first_url = models.TextField(verbose_name="URL of one article")
    second_url = models.TextField(verbose_name="URL of another article")
    learnt_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "name"], name="learnt_parameter_once")]

    def __str__(self) -> str:
        return self.name


def _selectors(label: str, help_text: str) -> ArrayField[list[str], list[str]]:
    return ArrayField(models.TextField(), verbose_name=label, default=list, help_text=help_text)


class ExtractionRule(models.Model):
    """A version of a newspaper's own extraction rule, never changed or deleted; Newspaper.extraction_rule is in use.

    One without selectors ends the rule. Written by storage/extraction_rules.py.
    """

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="extraction_rules")
    body = _selectors("text", "What holds the article’s text. If several elements match, all are joined.")
    headline = _selectors("headline", "What holds the headline.")
    day = _selectors("day", "What holds the day of publication: an element, or its attribute as in //time/@datetime.")
    authors = _selectors("authors", "What holds the names of the authors, one element for each.")
    drop = _selectors(
        "remove", "What is removed from the page before anything is read, such as div.advert. All lines apply."
    )
    note = models.CharField("why", max_length=200, blank=True, help_text="For the history below the form.")
    restores = models.ForeignKey(
        "self", null=True, on_delete=models.RESTRICT, related_name="+", help_text="The older version that it repeats."
    )
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"rule {self.pk} of {self.newspaper}"


class BoilerplateWeek(models.Model):
    """A fingerprint of what the boilerplate of a newspaper's week depends on: when it changes, it is searched again."""

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="+")
    week = models.DateField(help_text="The Monday of the week.")
    fingerprint = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["newspaper", "week"], name="one_row_a_week")]

    def __str__(self) -> str:
        return f"{self.newspaper}, week of {self.week}"


class RepeatedSentence(models.Model):
    """A sentence shared by several articles of a newspaper's week. Written by storage/boilerplate_marks.py."""

    class Kind(models.TextChoices):
        """Whether it is boilerplate, or why it is not."""

        BOILERPLATE = SentenceKind.BOILERPLATE.value, "boilerplate"
        QUOTATION = SentenceKind.QUOTATION.value, "quotation"
        WHITELISTED = SentenceKind.WHITELISTED.value, "whitelisted"

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="repeated_sentences")
    week = models.DateField(help_text="The Monday of the week.")
    digest = models.UUIDField(help_text="A digest of the normalised sentence.")
    sentence = models.TextField(help_text="The sentence as its first article has it.")
    kind = models.CharField(max_length=11, choices=Kind.choices)
    articles = models.PositiveIntegerField(help_text="The number of articles of the week that have it.")
    article_ids = ArrayField(models.BigIntegerField(), help_text="The ids of these articles, the first one first.")

    class Meta:
        ordering = ["-week", "-articles", "id"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "week", "digest"], name="one_row_a_sentence")]
        indexes = [
            models.Index(fields=["newspaper", "digest"], name="repeated_sentence"),
            GinIndex(OpClass(Upper("sentence"), name="gin_trgm_ops"), name="repeated_sentence_words"),
        ]

    def __str__(self) -> str:
        return self.sentence


class WhitelistedSentence(models.Model):
    """A sentence that an editor wants kept in a newspaper's articles, however often it appears."""

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="whitelisted_sentences")
    digest = models.UUIDField(help_text="A digest of the normalised sentence.")
    sentence = models.TextField()
    whitelisted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    whitelisted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-whitelisted_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "digest"], name="whitelisted_once")]

    def __str__(self) -> str:
        return self.sentence
