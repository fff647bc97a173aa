"""What runs derive from articles: series of headlines, dense groups, and caches of texts."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import MD5

from articles.models import Article
from dedup.models.base import Row, Ruled
from dedup.models.runs import DetectionRun


class HeadlineForm(Row):
    """An article's headline with numbers, months and weekdays masked. The headlines of a series share one form."""

    written = "{0.form}"
    article = models.OneToOneField(
        Article, primary_key=True, on_delete=models.CASCADE, db_constraint=False, related_name="headline_form"
    )
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, db_constraint=False, related_name="+")
    date = models.DateField()
    form = models.TextField()
    revision = models.BigIntegerField(help_text="The revision of the article when its form was computed.")
    # Here, because to measure a long text PostgreSQL has to read and unpack it; reports need the lengths of all.
    characters = models.IntegerField(null=True, help_text="The length of the article's content at that time.")

    class Meta:
        indexes = [
            models.Index("newspaper", MD5("form"), name="headline_form"),
            models.Index(fields=["date"], name="headline_form_date"),
        ]


class Series(Ruled):
    """Headlines of one form in one newspaper on many days: a column, a forecast, exchange rates."""

    written = "{0.headline}"
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="series")
    form = models.TextField()
    headline = models.TextField(help_text="The headline of the latest article.")
    articles = models.PositiveIntegerField()
    days = models.PositiveIntegerField(help_text="Days with at least one article.")
    first_day = models.DateField()
    last_day = models.DateField()
    # A rule follows the articles when newspapers are merged, and goes back when that is undone.
    made_for = models.ForeignKey(
        "articles.Newspaper",
        null=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="The newspaper that the rule was made for, if that was merged into this one.",
    )

    class Meta:
        ordering = ["-articles", "id"]
        verbose_name_plural = "series"
        constraints = [models.UniqueConstraint("newspaper", MD5("form"), name="one_row_a_series")]


class CrowdedArticle(Row):
    """A hub: an article near so many others that a pass proposes only some of its pairs with other such articles."""

    written = "Article {0.article_id}, near {0.near} others"
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="crowded")
    pass_name = models.CharField(max_length=20)
    near = models.PositiveIntegerField(help_text="At least so many articles reach the threshold of the pass with it.")
    run = models.ForeignKey(DetectionRun, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pass_name", "article"], name="one_crowd_a_pass")]


class DenseGroup(Ruled):
    """Hubs that kept pairs connect. Rebuilt by detection/runs/dense_groups.py; keeps its id where possible.

    A group with a rule stays, and keeps its articles, even if no pass finds them to be hubs any more.
    """

    written = "Dense group {0.pk}"
    first = models.ForeignKey(
        Article, on_delete=models.PROTECT, related_name="+", help_text="The earliest article by day and id."
    )
    size = models.PositiveIntegerField()
    newspapers = models.PositiveIntegerField(help_text="Newspapers with at least one article.")
    first_day = models.DateField()
    last_day = models.DateField()
    pairs = models.PositiveIntegerField(help_text="Pairs that the passes kept between its crowded articles.")
    passes = ArrayField(models.CharField(max_length=20), help_text="The passes that kept only some of its pairs.")
    fingerprint = models.CharField(max_length=64, help_text="Changes whenever its articles do.")

    class Meta:
        ordering = ["-size", "id"]

    @property
    def possible_pairs(self) -> int:
        """How many pairs its articles could form."""
        return self.size * (self.size - 1) // 2


class GroupMember(Row):
    """An article in its dense group. An article is in at most one."""

    written = "Article {0.article_id} in dense group {0.group_id}"
    article = models.OneToOneField(Article, primary_key=True, on_delete=models.CASCADE, related_name="group_member")
    group = models.ForeignKey(DenseGroup, on_delete=models.CASCADE, related_name="members")


class ArticleShingles(Row):
    """The word shingles of an article's whole text, as detection/kernels/masked_shingles.py makes them. A cache."""

    written = "Shingles of article {0.article_id}"
    article = models.OneToOneField(
        Article, primary_key=True, on_delete=models.CASCADE, db_constraint=False, related_name="shingles"
    )
    newspaper = models.ForeignKey(
        "articles.Newspaper", on_delete=models.CASCADE, db_constraint=False, related_name="+", db_index=False
    )
    date = models.DateField()
    shingles = models.BinaryField(help_text="Their hashes: 32 bits each, little-endian, ascending and distinct.")
    revision = models.BigIntegerField(help_text="The revision of the article when its shingles were computed.")

    class Meta:
        verbose_name_plural = "article shingles"
        indexes = [models.Index(fields=["newspaper", "date"], name="article_shingles_around")]


class ShingleSample(Row):
    """Some shingles of some articles, by which articles with a text are found. A cache.

    If an article changes, a later row has it too.
    """

    written = "Sampled shingles of {0.count} articles"
    count = models.PositiveIntegerField(help_text="The number of articles.")
    articles = models.BinaryField(help_text="Their ids: 64 bits each, little-endian.")
    hashes = models.BinaryField(help_text="The hashes: 32 bits each, little-endian, ascending.")
    owners = models.BinaryField(help_text="The place of the article of each: 16 bits each, little-endian.")


class ShingleCounts(Row):
    """How many articles had each shingle that many have, when a run compared all by the containment pass. A cache.

    Without it, the next run compares all again (detection/runs/growth.py).
    """

    written = "Shingle counts of run {0.run_id}"
    run = models.OneToOneField(DetectionRun, primary_key=True, on_delete=models.CASCADE, related_name="+")
    articles = models.PositiveIntegerField(help_text="The number of articles.")
    hashes = models.BinaryField(help_text="The shingles: 32 bits each, little-endian, ascending and distinct.")
    counts = models.BinaryField(help_text="The number of articles of each: 32 bits each, little-endian.")
    touched = models.BinaryField(
        default=b"", help_text="Ids of the articles of which later runs found shingles that had become common: 64 bits."
    )


class KeptPairs(Row):
    """Pairs of a block of days that shared enough then, whatever their score (kernels/inverted_index.py). A cache."""

    written = "Kept pairs of run {0.counted_id}"
    counted = models.ForeignKey(ShingleCounts, on_delete=models.CASCADE, related_name="kept")
    pairs = models.BinaryField(help_text="As KEPT_PAIR has them.")


class ArticleSentences(Row):
    """The sentences of an article's whole content, as dedup/detection/kernels/sentences.py marks them. A cache."""

    written = "Sentences of article {0.article_id}"
    article = models.OneToOneField(
        Article, primary_key=True, on_delete=models.CASCADE, db_constraint=False, related_name="sentences"
    )
    revision = models.BigIntegerField(help_text="The revision of the article when its sentences were marked.")
    hashes = models.BinaryField(help_text="Their hashes: 64 bits each, little-endian, ascending and distinct.")
    marks = models.BinaryField(help_text="Their lengths and whether they have a name: 16 bits each, little-endian.")

    class Meta:
        verbose_name_plural = "article sentences"


class NewspaperMonth(Row):
    """What recurs in the texts of a newspaper around a month, learnt when pairs of that month were judged. A cache."""

    written = "Newspaper {0.newspaper_id}, {0.month:%Y-%m}"
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="+", db_index=False)
    month = models.DateField(help_text="The first day of the month.")
    digest = models.BigIntegerField(help_text="A digest of the articles that it is learnt from, and of how.")
    articles = models.PositiveIntegerField(help_text="The number of articles that it is learnt from.")
    phrases = models.BinaryField(
        help_text="Hashes of the phrases that recur: 32 bits each, little-endian, ascending and distinct."
    )
    common = models.TextField(help_text="The words that are common, with blanks between them.")
    young = models.BooleanField(
        default=False, help_text="Whether later months count, too, because there was too little up to this one."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["newspaper", "month"], name="one_row_a_newspaper_and_month")]


class Watermark(Row):
    """What is derived under this name is up to date with all articles up to a revision.

    `input_digest` is a digest of whatever else it depends on. Without a row, all of it is derived again.
    """

    written = "{0.name} up to {0.revision}"
    name = models.CharField(max_length=20, primary_key=True)
    revision = models.BigIntegerField()
    input_digest = models.CharField(max_length=64, blank=True, default="")


class ChangedArticle(Row):
    """An article with a pair that runs have changed since they last rebuilt the clusters; it may have several rows."""

    written = "{0.article}"
    # No foreign key, which would check every row: these are written by the thousands and soon deleted.
    article = models.BigIntegerField()
