"""What is said about a pair makes sense: facts differ in meaning, and no two sentences contradict each other."""

import datetime
import re
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.normalization.times import written_time
from dedup.detection.comparison.compare import compare
from dedup.detection.comparison.prepared import ArticleText, Preparer
from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.features import features_of
from dedup.detection.verdicts.model import default_model
from dedup.detection.verdicts.reasons import CLEAR, Standing, reasons_for, relation_sentence
from dedup.detection.verdicts.relations import measured
from dedup.detection.verdicts.verdict import judgement_of
from dedup.templatetags.review import GLOSSES
from tests.claims import contradictions

DAY = datetime.date(2026, 3, 2)

# Each row is one fact, written in several ways.
ONE_FACT = [
    ("9", "09", "9.0", "9.00"),
    ("4", "4.00", "04"),
    ("1,000", "1000", "1.000"),
    ("1,234.50", "1234.5", "1.234,50"),
    ("9:20", "9.20", "09:20"),
    ("7/8", "07/08"),
    ("686,386", "6,863,86"),
    ("٣", "3", "三", "３"),
    ("1500 million", "1.5 billion", "1.5 bn", "1,500,000,000"),
    ("1.5 billion", "1,513,675,780 crowns"),
    ("40 km", "40 kilometres"),
    ("40 per cent", "40 percent", "40%", "40 pct"),
    ("Rs 40", "LKR 40", "Rs40", "LKR40"),
    ("40 USD", "40 dollars"),
    ("40 billion", "40 Billions"),
    ("12 Sept", "12 September", "12th Sept", "12th September"),
    ("the 2nd", "the second"),
    ("Harbour Works Ltd", "Harbour Works Limited", "Harbour Works Ltd."),
    ("Mr Petar Babić", "Minister Petar Babić", "Dr Petar Babić", "Petar Babić", "P. Babić", "Babić"),
    ("Prof Ana Kovač", "Professor Ana Kovač", "M. Kovač", "Mme Kovač"),
    ("the Harbour Labour Union", "the HLU"),
    ("the Govt", "the Government"),
    ("Zadar's mayor", "Zadar mayor"),
    ("Ukraine", "Ukrainian"),
    ("НДС 09", "НДС 9"),
    ("୦୯", "9"),
]
# Of each row, neither is the other one more exactly or of another kind: nothing is said to be replaced.
OF_ANOTHER_KIND = [
    ("2", "2024"),
    ("27", "27/01/2024"),
    ("31.03.2025", "2025"),
    ("10:30", "10"),
    ("1989/90", "1989"),
    ("2017", "20173"),
    ("2011", "2011,1"),
    ("20", "1.00"),
    ("Tuesday 4", "March 4"),
]
DIFFERENT = [
    ("120", "95"),
    ("40,000", "40"),
    ("1.5", "15"),
    ("2023", "2024"),
    ("7", "7.40"),
    ("302.55/58", "302.55/60"),
    ("40 dollars", "40 euros"),
    ("40 million", "40 billion"),
    ("Tuesday", "Friday"),
    ("Asia", "Australia"),
    ("Mali", "Malawi"),
    ("Matale", "Ratnapura"),
    ("Ana Kovač", "Ivo Barić"),
]
SENTENCE = "The harbour office said in its report that {} was what it had written down about the old ferry at the quay."


def said(left: str, right: str, preparer: Preparer | None = None) -> list[str]:
    preparer = preparer or Preparer()
    one, other = (preparer.prepare(ArticleText(1, DAY, "", text)) for text in (left, right))
    return reasons_for(compare(one, other))


def arrows(sentences: list[str]) -> list[str]:
    return [sentence for sentence in sentences if "→" in sentence or "replaced" in sentence]


@pytest.mark.parametrize("forms", [*ONE_FACT, *OF_ANOTHER_KIND], ids=lambda forms: forms[0])
def test_what_means_the_same_is_never_said_to_be_replaced(forms: tuple[str, ...]) -> None:
    for left, right in product(forms, repeat=2):
        sentences = said(SENTENCE.format(left), SENTENCE.format(right))
        assert arrows(sentences) == [], f"{left} and {right}: {sentences}"


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_what_differs_in_meaning_is_said_to_be_replaced(left: str, right: str) -> None:
    for one, other in ((left, right), (right, left)):
        assert len(arrows(said(SENTENCE.format(one), SENTENCE.format(other)))) == 1


def test_every_reason_that_gives_no_cause_for_doubt_is_really_said() -> None:
    rust, engine, crew = (SENTENCE.format(word) for word in ("rust", "a new engine", "the crew"))
    pairs = ((rust, rust), (rust, f"{rust} {engine}"), (f"{rust} {engine}", f"{rust} {SENTENCE.format('a new engin')}"))
    pairs += (
        (f"{rust} {engine}", f"{engine} {rust}"),
        (f"{rust} {engine}", f"{rust} {SENTENCE.format('old age')} {crew}"),
    )
    sentences = [sentence for left, right in pairs for sentence in said(left, right)]
    preparer = Preparer()
    one, other = (
        preparer.prepare(ArticleText(1, day, "Ferry sold", rust)) for day in (DAY, DAY + datetime.timedelta(3))
    )
    sentences += judgement_of(compare(one, other)).reasons
    patterns = {pattern: re.compile(".*".join(map(re.escape, pattern.split("%")))) for pattern in CLEAR}
    unsaid = [pattern for pattern, form in patterns.items() if not any(map(form.fullmatch, sentences))]
    assert unsaid == [], sentences


def test_facts_that_change_places_are_not_replaced() -> None:
    first, second = "The mayor thanked {} for the new bridge.", "A day later the town council invited {} to dinner."
    facts = [("Ana Kovač", "Harbour Board"), ("120", "95"), ("Tuesday", "Friday")]
    for one, other in facts:
        left, right = (f"{first.format(a)} {second.format(b)}" for a, b in ((one, other), (other, one)))
        assert arrows(said(left, right)) == [], one


def test_texts_in_another_order_are_not_called_the_same_and_share_words_without_a_common_sentence() -> None:
    one, other = (SENTENCE.format(word) for word in ("rust", "a new engine"))
    same = "The texts are the same, word for word, but for the order of sentences."
    assert said(f"{one} {other}", f"{other} {one}")[0] == same
    left = "In the outer port, the crew of the Hektorović met Ana Kovač, who praised it. Nobody else came."
    right = "Nobody had expected that Ana Kovač would sail. Yet she boarded the Hektorović at noon."
    assert said(left, right)[0] == "The articles share the words “Ana”, “Kovač” and “Hektorović”, but no sentence."


facts = st.sampled_from(sorted({fact for row in [*ONE_FACT, *OF_ANOTHER_KIND, *DIFFERENT] for fact in row}))
sentences = st.tuples(
    st.sampled_from(
        [
            SENTENCE,
            "Nobody at {} wanted to comment on the accident before the inquiry has come to an end.",
            "Islanders asked {} for a second ship.",
            "У порту {} чекали на вечірній пором до островів разом із тими, хто мав вантаж.",
        ]
    ),
    facts,
)
texts = st.lists(sentences, max_size=5).map(lambda pairs: " ".join(form.format(fact) for form, fact in pairs))
times = st.sampled_from([None, written_time("2026-03-02T07:10Z"), written_time("2026-03-02T18:30Z")])
articles = st.builds(
    ArticleText,
    newspaper=st.integers(1, 2),
    date=st.sampled_from([DAY, DAY + datetime.timedelta(days=1)]),
    headline=st.sampled_from(["", "Ferry cancelled", "Ferry 2 cancelled", "Ferry 3 cancelled"]),
    content=texts,
    time=times,
)


@settings(max_examples=300, deadline=None)
@given(articles, articles, facts, facts)
def test_what_is_said_of_one_pair_is_without_contradictions(
    left: ArticleText, right: ArticleText, old: str, new: str
) -> None:
    preparer = Preparer()
    for other in (right, replace(right, content=left.content.replace(old, new))):
        comparison, turned = (compare(*map(preparer.prepare, pair)) for pair in ((left, other), (other, left)))
        there, back, judgement = reasons_for(comparison), reasons_for(turned), judgement_of(comparison)
        chances = default_model().probabilities(features_of(comparison))
        for kind in VerdictKind:
            assert measured(comparison, chances, kind) == measured(turned, chances, kind)
        assert contradictions([GLOSSES[judgement.kind], *judgement.reasons]) == []  # type: ignore[index]
        for gloss in GLOSSES.values():
            assert contradictions([gloss, *there]) == []
        # The earlier one is on the left, whichever is stored first.
        assert comparison.earlier == "" or there == back


def test_the_check_finds_contradictions() -> None:
    same, changed = "The texts are the same, word for word.", "2 of 3 sentences appear with changes in the longer one."
    assert contradictions([same, "1 number replaced: 3 → 4."])
    assert contradictions([same, changed])
    assert contradictions(["1 number replaced: 9 → 09."])
    assert contradictions(["2 names replaced: Ana → Ivo, Ivo → Ana."])
    assert contradictions(["2 of 3 sentences are shared; one differs only in names.", "1 number replaced: 3 → 4."])
    assert contradictions(["A reader would call the two one article.", "This is new."])
    assert not contradictions([changed, "1 number replaced: 3 → 4."])


@pytest.mark.parametrize(
    ("relation", "earlier", "later", "quoted", "sentence"),
    [
        ("copy", (1.0, 0), (1.0, 0), 0.0, "Each has all of the other."),
        ("copy", (0.99, 2), (0.96, 9), 0.0, "Each has nearly all of the other."),
        ("copy", (1.0, 0), (0.85, 40), 0.0, "The later article has all of the earlier one and 40 words more."),
        ("contains", (1.0, 0), (0.4, 410), 0.0, "The later article has all of the earlier one and 410 words more."),
        ("contains", (0.5, 1), (0.9, 9), 0.0, "The earlier article has 90% of the later one and 1 word more."),
        (
            "part",
            (0.9, 3),
            (0.1, 9),
            0.5,
            "The later article has 90% of the earlier one, in quotation marks, and 9 words more on other things.",
        ),
        (
            "update",
            (0.06, 50),
            (0.03, 200),
            0.2,
            "A later state of the story: it keeps 6% of the earlier one; 97% of it is new.",
        ),
        (
            "template",
            (0.8, 9),
            (0.82, 8),
            0.0,
            "One form with other facts: 80% of the earlier article match, 82% of the later one.",
        ),
        ("similar", (0.0, 90), (0.0, 80), 0.0, "0% of the earlier article match, 0% of the later one."),
        ("", (0.0, 0), (0.0, 0), 0.0, ""),
    ],
)
def test_what_two_articles_are_to_each_other_in_a_sentence(
    relation: str, earlier: tuple[float, int], later: tuple[float, int], quoted: float, sentence: str
) -> None:
    assert relation_sentence(relation, Standing(*earlier), Standing(*later), quoted) == sentence
