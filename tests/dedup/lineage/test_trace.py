"""The lineage of a cluster: order, direction, sentences, kinds, doubts, and bounds."""

import datetime
from dataclasses import replace

from articles.normalization.times import Precision, PublicationTime
from dedup.detection.comparison.prepared import ArticleText, Preparer, shown_sentences
from dedup.detection.lineage.articles import Confidence, Kind, Lineage, LineageArticle, Text
from dedup.detection.lineage.direction import time_order
from dedup.detection.lineage.trace import MOST_TEXTS, NO_ORIGIN, texts_to_read, trace
from tests.dedup.lineage import development_stories
from tests.dedup.lineage.scenarios import scenario
from tests.dedup.lineage.scores import score

DAY = datetime.date(2026, 3, 2)
CORE = [
    "The old pier of Fenwick closes for repairs on Monday, the town said.",
    "Divers found that eleven of its oak piles had rotted below the water line.",
    "The work will take five months and cost two million.",
    "Fishermen may use the northern steps until the end of March.",
    "A decision on the café at its head is expected in the autumn.",
]
OWN = "Our readers remember the winter when ice carried half of it away."


def article(
    number: int,
    name: str,
    clock: str = "",
    *,
    sentences: list[str] | None = None,
    day: datetime.date = DAY,
    **fields: str,
) -> tuple[LineageArticle, str]:
    """Return an article of a newspaper, and its text. `clock`: hh:mm in UTC; empty if only the day is known."""
    content = "\n\n".join(CORE if sentences is None else sentences)
    time = None
    if clock:
        local = datetime.datetime.combine(day, datetime.time.fromisoformat(clock))
        time = PublicationTime.of(local, 0, Precision.MINUTE)
    newspaper = sum(map(ord, name))
    return LineageArticle(number, newspaper, name, day, content, time=time, **fields), content


def traced(*given: tuple[LineageArticle, str]) -> Lineage:
    preparer = Preparer()
    texts = {
        content: Text(content, preparer.prepare(ArticleText(article.newspaper, article.date, "", content)))
        for article, content in given
    }
    return trace([article for article, _ in given], texts)


def test_a_later_article_that_names_the_earlier_one_follows_it_and_its_sentences_are_listed() -> None:
    follower = [CORE[0], OWN, CORE[1].replace("eleven", "twelve"), *CORE[2:4], "Source: Harbour Post"]

    found = traced(article(9, "Harbour Post", "08:00"), article(4, "Coast Telegraph", "10:30", sentences=follower))

    (edge,) = found.edges
    assert (edge.source, edge.follower, edge.hours, edge.days) == (9, 4, 2.5, 0)
    assert (edge.direction, edge.kind) == (Confidence.CLEAR, Kind.NEWSPAPER)
    assert (found.kind, found.confidence, found.leader and found.leader.number) == (Kind.NEWSPAPER, Confidence.CLEAR, 9)
    sentences = shown_sentences("\n\n".join(follower))
    assert [sentences[place] for place in edge.added] == [OWN, "Source: Harbour Post"]
    assert edge.dropped == (4,)
    assert edge.changed == ((1, 2),)
    assert edge.reasons[:2] == (
        "Harbour Post published 2.5 hours before Coast Telegraph.",
        "Coast Telegraph credits Harbour Post.",
    )
    assert found.doubts == (NO_ORIGIN,)


def test_a_day_orders_nothing_within_it_but_a_cropped_text_follows_the_whole_one() -> None:
    same = traced(article(1, "Harbour Post"), article(2, "Coast Telegraph"))
    cropped = traced(article(1, "Harbour Post", sentences=CORE[:3]), article(2, "Coast Telegraph"))

    assert same.edges[0].direction is Confidence.DOUBTFUL
    assert (same.kind, same.confidence, same.leader) == (Kind.COMMON, Confidence.DOUBTFUL, None)
    assert "Only the day is known of 2 of 2 articles; a day cannot order its articles." in same.doubts
    assert "The direction of 1 of 1 arrows is unknown; they are dashed." in same.doubts
    (edge,) = cropped.edges
    assert (edge.source, edge.follower, edge.hours, edge.direction) == (2, 1, None, Confidence.LIKELY)
    assert (edge.added, edge.dropped) == ((), (3, 4))


def test_tells_the_kinds_apart() -> None:
    harbour, coast = article(1, "Harbour Post", "08:00"), article(2, "Coast Telegraph", "09:00")
    inland = article(3, "Inland", "11:00")
    credited = article(4, "Valley Courier", "12:00", agency="Reuters")
    release = article(5, "Valley Courier", "12:00", sentences=["PRESS RELEASE", *CORE])
    mentions = article(6, "Valley Courier", "12:00", sentences=[*CORE, "This was said in a press release on Monday."])
    additions = article(7, "Valley Courier", "12:00", sentences=[*development_stories.LOCAL[:3], *CORE[1:4]])
    owned = [article(number, name, "08:00", owner="Tide") for number, name in ((1, "Harbour Post"), (2, "Inland"))]

    found = {
        "burst": traced(harbour, coast, inland),
        "agency": traced(harbour, credited),
        "release": traced(harbour, release),
        "a mention": traced(harbour, mentions),
        "additions": traced(harbour, additions),
        "one owner": traced(*owned),
    }

    assert {name: (edge.kind.value, edge.confidence.value) for name, edge in found.items()} == {
        "burst": ("wire", "likely"),
        "agency": ("wire", "likely"),
        "release": ("release", "likely"),
        "a mention": ("newspaper", "doubtful"),
        "additions": ("common", "likely"),
        "one owner": ("own", "clear"),
    }


def test_times_without_a_zone_and_uncertain_dates_weigh_less() -> None:
    first, _ = article(1, "Harbour Post", "08:00")
    second, _ = article(2, "Coast Telegraph", "18:00")
    zoneless = [
        replace(stored_article, time=PublicationTime.of(stored_article.time.local, None, stored_article.time.precision))
        for stored_article in (first, second)
        if stored_article.time
    ]
    uncertain, _ = article(3, "Inland", "18:00", date_doubt="two dates")
    next_day, _ = article(4, "Inland", day=DAY + datetime.timedelta(days=1))

    assert (time_order(first, second).sign, time_order(first, second).points) == (-1, 3)
    assert time_order(second, first).sign == 1
    assert time_order(*zoneless).points == 2
    assert time_order(first, zoneless[1]).points == 0
    assert time_order(first, uncertain).points == 1
    assert time_order(first, next_day)[:2] == (-1, 2)


def test_a_cluster_with_too_many_texts_is_compared_in_part_and_circles_are_broken() -> None:
    many = [
        article(number, f"Paper {number}", sentences=[*CORE[:4], f"Edition {number} ends with its own number."])
        for number in range(1, MOST_TEXTS + 6)
    ]
    read = texts_to_read([stored_article for stored_article, _ in many])
    texts = {content: Text(content, Preparer().prepare(ArticleText(1, DAY, "", content))) for content in read}

    found = trace([stored_article for stored_article, _ in many], texts)

    assert len(read) == MOST_TEXTS
    assert found.unread == 5
    assert "There are too many different texts: 5 articles were not compared." in found.doubts
    sources = {edge.follower: edge.source for edge in found.edges}
    assert len(sources) == MOST_TEXTS - 1
    for start in sources:
        seen, number = set[int](), start
        while number in sources and number not in seen:
            seen.add(number)
            number = sources[number]
        assert number not in sources


def test_finds_the_lineage_of_the_scenarios_of_the_development_set() -> None:
    found = score(scenario(development_stories, seed) for seed in range(1_000, 1_100))

    assert found.direction.value > 0.95
    assert found.direction_found.value > 0.7
    assert found.order[Confidence.CLEAR].value > 0.95
    assert found.precision(Kind.WIRE).value > 0.9
    assert found.recall(Kind.NEWSPAPER).value > 0.75
