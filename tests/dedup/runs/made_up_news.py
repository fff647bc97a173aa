"""News made up from a seed, in several scripts, in which all that a verdict rests on occurs.

Copies in another newspaper, versions that grow, crops, edited sentences, one name put in another's place, tables of the
day, articles that share a headline, many notices that are nearly equal, and a sentence that a newspaper prints below
every article.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from django.contrib.auth import get_user_model

from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from benchmarks.dense import words
from dedup.models import Cluster, Pair, Profile, Series
from dedup.review.answers import decisions
from dedup.review.rules.rules import make_rule
from tests.dedup.runs.running import command

FIRST_DAY = datetime.date(2026, 2, 9)
DAYS = 70
# Of every newspaper: its letters, what separates its words, what ends its sentences, and its articles per day. The
# first has more articles around a month than its common words are learnt from, the others have few.
_HARBOUR, _COURIER = "Harbour Post", "Inland Courier"
_PAPERS = {
    _HARBOUR: ("abdeghiklmnoprstuw", " ", ".", 3),
    _COURIER: ("abdeghiklmnoprstuw", " ", ".", 1),
    "Côte du Nord": ("abcdeéèfgilmnoprstuçâ", " ", ".", 0.2),
    "Северный берег": ("абвгдежиклмнопрстуя", " ", ".", 0.2),
    "الميناء": ("ابتجدرسعفقكلمنهوي", " ", ".", 0.2),
    "तट समाचार": ("कगचजटडतदनपबमयरलवसह", " ", "।", 0.2),
    "වරාය පුවත්": ("කගචජටඩතදනපබමයරලවසහ", " ", ".", 0.2),
    "港口日报": ("一二人大山水火木田石海天風雨雪花鳥魚馬牛車船門市町", "", "。", 0.2),
    "ท่าเรือ": ("กขคงจชดตทนบปพมยรลวสห", "", " ", 0.2),
}
_COMMON_WORDS, _RARE_WORDS = 150, 4_000
WORDS = words(3_000)
_FOOTER = "write to the newsroom of {paper} or visit us at the old customs house"


@dataclass
class _Writer:
    """Writes for one newspaper, with words of its own script."""

    paper: str
    dice: Random
    common: list[str] = field(init=False)
    rare: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.letters, self.blank, self.end, self.per_day = _PAPERS[self.paper]
        self.common = [self._word(2, 5) for _ in range(_COMMON_WORDS)]
        self.rare = [self._word(4, 8).capitalize() for _ in range(_RARE_WORDS)]

    def sentence(self, names: list[str] | None = None) -> str:
        """Return a sentence of common words, a number now and then, and names."""
        names = names or self.names(2)
        words = self.dice.choices(self.common, k=self.dice.randint(9, 18))
        for name in names:
            words[self.dice.randrange(1, len(words))] = name
        if self.dice.random() < 0.5:
            words[self.dice.randrange(1, len(words))] = str(self.dice.randint(3, 900))
        return self.joined(words)

    def names(self, count: int) -> list[str]:
        return self.dice.choices(self.rare, k=count)

    def joined(self, words: list[str]) -> str:
        text = self.blank.join(words)
        return f"{text[:1].upper()}{text[1:]}{self.end}"

    def headline(self) -> str:
        return self.joined([*self.dice.choices(self.common, k=4), *self.names(2)]).rstrip(self.end)

    def story(self) -> list[str]:
        """Return the sentences of a new story, in which two names come again and again."""
        names = self.names(2)
        return [self.sentence([*names, *self.names(1)]) for _ in range(self.dice.randint(6, 12))]

    def edited(self, sentence: str) -> str:
        """Return a sentence with some of its words replaced."""
        words = sentence.split(self.blank) if self.blank else list(sentence)
        for _ in range(max(1, len(words) // 12)):
            words[self.dice.randrange(1, len(words) - 1)] = self.dice.choice(self.common)
        return self.blank.join(words)

    def _word(self, least: int, most: int) -> str:
        return "".join(self.dice.choices(self.letters, k=self.dice.randint(least, most)))


def made_up_news(seed: int) -> list[IncomingArticle]:
    """Return some 700 articles of DAYS days from FIRST_DAY on, by day; the same for the same seed."""
    dice = Random(seed)
    writers = {paper: _Writer(paper, dice) for paper in _PAPERS}
    written = [text for writer in writers.values() for text in _of(writer, writers)]
    # Notices of three days that differ in one sentence: a dense group.
    courier = writers[_COURIER]
    notice = courier.story()
    for number in range(18):
        own = notice if number % 5 == 4 else [*notice, courier.sentence()]
        written.append(_article(courier, 30 + number // 6, courier.headline(), own))
    return sorted(written, key=lambda article: article.date)


def _of(writer: _Writer, writers: dict[str, _Writer]) -> Iterator[IncomingArticle]:
    """Yield a newspaper's stories, what becomes of them in it and in others, and its tables."""
    others = [known for known in writers.values() if known is not writer and known.blank == writer.blank]
    other = writers[_COURIER] if writer.paper == _HARBOUR else others[0]
    for number in range(int(DAYS * writer.per_day)):
        day = int(number / writer.per_day)
        headline, story = writer.headline(), writer.story()
        if number % 12 == 0:  # two long numbers, as of a table
            story[0] = f"{story[0]} {40_007 + number} {50_021 + number}{writer.end}"
        address = f"story-{10_000 + number}"
        yield _article(writer, day, headline, story, address=address)
        yield from _again(writer, other, day, headline, story, kind=number % 12, address=address)
    for day in range(0, DAYS, 6 if writer.per_day < 1 else 2):
        yield _article(writer, day, *_table(writer, day))


def _again(
    writer: _Writer, other: _Writer, day: int, headline: str, story: list[str], *, kind: int, address: str
) -> Iterator[IncomingArticle]:
    """Yield what becomes of a story: of every twelve, seven come again."""
    dice = writer.dice
    match kind:
        case 0:  # a copy in another newspaper
            yield _article(other, day + 1, headline, story)
        case 1:  # the same, edited
            yield _article(other, day + 1, writer.headline(), [writer.edited(sentence) for sentence in story])
        case 2:  # a version that has grown
            yield _article(writer, day, headline, [*story[:1], writer.sentence(), *story[1:], *writer.story()[:4]])
        case 3:  # a crop, weeks later
            yield _article(other, day + 20, writer.headline(), story[: len(story) // 2])
        case 4:  # the same article in another order, under an address with other parameters
            again = dice.sample(story, len(story))
            yield _article(writer, day, headline, again, address=f"{address}?utm_source=feed")
        case 5:  # the same form about another name
            for name in writer.names(2):
                yield _article(writer, day + 3, writer.headline(), [f"{name} {sentence}" for sentence in story])
        case 6:  # another story under the same headline
            yield _article(writer, day, headline, writer.story())


def _table(writer: _Writer, day: int) -> tuple[str, list[str]]:
    """Return the headline and the sentences of a table that comes every few days, with other numbers."""
    dice, form = writer.dice, Random(writer.paper)
    rows = [form.choices(writer.common, k=8) for _ in range(5)]
    sentences = [writer.joined([*row, f"{dice.randint(100, 999)}.{dice.randint(10, 99)}", *row[:3]]) for row in rows]
    return f"{writer.joined(rows[0][:4]).rstrip(writer.end)} {day + 1}", sentences


def _article(writer: _Writer, day: int, headline: str, sentences: list[str], *, address: str = "") -> IncomingArticle:
    date = FIRST_DAY + datetime.timedelta(days=day)
    host = f"paper{list(_PAPERS).index(writer.paper)}.example"
    address = address or str(writer.dice.getrandbits(60))
    return IncomingArticle(
        date=date,
        headline=headline,
        url=f"https://{host}/{date:%Y/%m/%d}/{address}",
        content=" ".join(sentences) + "\n\n" + _FOOTER.format(paper=writer.paper),
        newspaper=writer.paper,
    )


def forms_with_copies(seed: int, count: int) -> list[str]:
    """Return texts of one form with other words in 12 places, each published one to six times with small changes."""
    dice = Random(seed)
    form, texts = dice.choices(WORDS, k=100), []
    while len(texts) < count:
        own = dict.fromkeys(dice.sample(range(100), 12))
        own |= {place: dice.choice(WORDS) for place in own}
        for _ in range(dice.choice([1, 1, 1, 2, 3, 6])):
            text = [own.get(place) or word for place, word in enumerate(form)]
            for _ in range(dice.choice([0, 1, 2])):
                text[dice.randrange(100)] = dice.choice(WORDS)
            texts.append(" ".join(text))
    dice.shuffle(texts)
    return texts[:count]


def store_copies(texts: list[str]) -> None:
    """Store these texts, of three days and five newspapers."""
    store_articles(
        [
            IncomingArticle(
                date=datetime.date(2026, 3, 2) + datetime.timedelta(days=number % 3),
                headline=f"Report {number} of the day",
                url=f"https://paper.example/{number}",
                content=text,
                newspaper=f"Paper {number % 5}",
            )
            for number, text in enumerate(texts)
        ]
    )


# ---- an archive of made-up news in which all that a run rests on has happened before ----

# So few similar articles make a dense group that the made-up news have some.
SETTINGS = {
    "sentence": {"weighted": True},
    "trigram": {"dense_from": 3, "retired": True},
    "stopword": {"dense_from": 4},
}


def store_archive(seed: int, *, days: int = DAYS) -> None:
    """Store news of the first days with an earlier run, decisions and a rule; some articles came after it."""
    Profile.objects.filter(is_default=True).update(settings=SETTINGS)
    last = FIRST_DAY + datetime.timedelta(days=days - 1)
    articles = [article for article in made_up_news(seed) if article.date <= last]
    late = set(range(5, len(articles), 9))
    _store([article for place, article in enumerate(articles) if place not in late])
    command("find_duplicates", "--threshold=trigram=0.4")
    _decide()
    _store([articles[place] for place in sorted(late)])


def _store(articles: list[IncomingArticle]) -> None:
    for start in range(0, len(articles), 100):
        assert {article.outcome for article in store_articles(articles[start : start + 100])} == {"created"}


def _decide() -> None:
    editor = get_user_model().objects.create_user("mara")
    pairs = list(Pair.objects.proposed().order_by("left", "right"))
    for pair in pairs[::23]:
        decisions.decide_pair(pair.pk, "confirm", user=editor)
    for pair in pairs[7::23]:
        decisions.decide_pair(pair.pk, "reject", user=editor)
    largest = Cluster.objects.order_by("-size", "pk")[0]
    decisions.take_out(largest.pk, largest.memberships.order_by("article").last().article_id, user=editor)
    make_rule(Series.objects.order_by("-articles", "pk")[0].pk, user=editor)
