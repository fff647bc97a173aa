"""What the sentences about a pair claim, and which of them contradict each other; drawn from a real run on demand.

`python -m tests.claims --count 20` prints reasons of random pairs of the database, for people to read, and checks all.
"""

import argparse
import os
import random
import re
from collections.abc import Sequence

from dedup.detection.comparison.plain_changes import comparable, same_name, same_number
from dedup.detection.verdicts import reasons

_NO_SENTENCE = {"sentences shared": "no", "sentences changed": "no"}
_UNCHANGED = {"sentences shared": "yes", "sentences changed": "no"}
_CHANGED = {"sentences shared": "yes", "sentences changed": "yes"}
# Each sentence with its claims. Two claims about one thing contradict each other if they differ.
CLAIMS: dict[str, dict[str, str]] = {
    r"A reader would call the two one article\.": {"verdict": "duplicate"},
    r"Two versions of one article\.": {"verdict": "version"},
    r"One form that is printed again and again: .*": {"verdict": "template"},
    r"Neither duplicates nor versions of one article, nor .*\.": {"verdict": "similar"},
    re.escape(reasons.RULE_REASON): {"verdict": "template"},
    re.escape(reasons.GROUP_RULE_REASON): {"verdict": "template"},
    re.escape(reasons.NOTHING_LEFT): {"verdict": "similar", "sentences shared": "no"},
    r"This text comes under [\d,]+ headlines; .*": {"verdict": "similar"},
    re.escape(reasons.DOUBTFUL): {"verdict": "duplicate"},
    **{re.escape(said): {} for said in reasons.IDENTITIES.values()},
    r"The texts are the same, word for word(, but for the order of sentences)?\.": _UNCHANGED | {"words added": "no"},
    r"One of the articles has no text\.": _NO_SENTENCE | {"phrases": "no"},
    r"The articles share no sentence\.": _NO_SENTENCE | {"phrases": "no"},
    r"The articles share the words? .*, but no sentence\.": _NO_SENTENCE | {"phrases": "no"},
    r"The articles share [\d,]+ phrases? .*, but no sentence\.": _NO_SENTENCE | {"phrases": "yes"},
    r"(All|Both|The single) .* word for word in the longer one\.": _UNCHANGED,
    r"\d+ of .* word for word in the longer one(; [\d,]+ (is|are) only in the shorter one)?\.": _UNCHANGED,
    r".* with changes( in the longer one)?(; [\d,]+ (is|are) only in the shorter one)?\.": _CHANGED,
    r".*(sentences?|others?|one|\d) differs? only in [a-z ,]+\.": _CHANGED,
    r"\d+ (number|date|name|unit)s? replaced: .*\.": {"sentences changed": "yes"},
    r"Dates in the texts shift with the publication dates\.": {"sentences changed": "yes"},
    r"The longer article (adds [\d,]+ words?|has [\d,]+ words? of its own)\.": {"words added": "yes"},
    r"Headlines of this form appear .*\.": {},
    r"(All|\d+% of the) shared phrases are ones that .*\.": {"phrases": "yes"},
    r"The headlines are the same\.": {"headlines": "same"},
    r"The headlines differ only in numbers or dates\.": {"headlines": "differ"},
    r"Published on the same day by .*; the first article earlier than the second\.": {"order": "known", "days": "same"},
    r"Published on the same day by .*; it is not known which came first\.": {"order": "unknown", "days": "same"},
    r"Published [\d,]+ days? apart by (the same newspaper|two newspapers)\.": {"order": "known", "days": "apart"},
}
KINDS = {"number": "numbers", "date": "dates", "unit": "units", "name": "names"}


def contradictions(sentences: Sequence[str]) -> list[str]:
    """Return what is wrong with all that is said about one pair: claims that clash, and facts that did not change."""
    found: list[str] = []
    claimed: dict[str, tuple[str, str]] = {}
    for sentence in sentences:
        known = [claims for pattern, claims in CLAIMS.items() if re.fullmatch(pattern, sentence, re.DOTALL)]
        if len(known) != 1:
            found.append(f"{len(known)} patterns fit: {sentence}")
        for topic, claim in known[0].items() if known else ():
            other, said = claimed.setdefault(topic, (claim, sentence))
            if other != claim:
                found.append(f"{said} / {sentence}")
        found += [f"{arrow}: {sentence}" for arrow in _unchanged(sentence)]
    return found + list(_beside_the_only_ones(sentences))


def _beside_the_only_ones(sentences: Sequence[str]) -> list[str]:
    """Return what is replaced although the sentences are said to differ only in other things."""
    texts = [sentence for sentence in sentences if not sentence.startswith("The headlines")]
    only = next((match[1] for text in texts if (match := re.search(r"differs? only in ([a-z ,]+)\.$", text))), "")
    replaced = [
        (sentence, match[1]) for sentence in sentences if (match := re.match(r"\d+ (\w+?)s?\b.* replaced: ", sentence))
    ]
    return [sentence for sentence, kind in replaced if only and KINDS[kind] not in only]


def _unchanged(sentence: str) -> list[str]:
    """Return what is said to replace something that means the same, or the other way round in the same sentence."""
    head, _, listed = sentence.partition(" replaced: ")
    if not listed:
        return []
    arrows = [arrow.split(" → ") for arrow in re.sub(r"( and \d+ more)?\.$", "", listed).split(", ")]
    numbers = " number" in head
    wrong = [arrow for arrow in arrows if arrow[::-1] in arrows or _same(*arrow, numbers=numbers)]
    return [" → ".join(arrow) for arrow in wrong]


def _same(left: str, right: str, *, numbers: bool) -> bool:
    if not numbers:
        return same_name(left.split(), right.split())
    one, other = left.split(maxsplit=1)[0], right.split(maxsplit=1)[0]
    # With a unit each, 640 mn and 640 billion differ.
    return (
        one[0].isnumeric()
        and other[0].isnumeric()
        and " " not in left
        and (same_number(one, other) or not comparable(one, other))
    )


def main() -> None:
    """Print reasons of random pairs as the page has them, and whatever is wrong among all pairs."""
    parser = argparse.ArgumentParser(prog="python -m tests.claims", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="how many pairs of each verdict to print (20)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="to draw the same again (random)")
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    import django  # noqa: PLC0415 - the check itself needs no Django

    django.setup()
    from dedup.models import Pair  # noqa: PLC0415 - only after setup
    from dedup.templatetags.review import GLOSSES, gloss  # noqa: PLC0415

    print(f"Seed {given.seed}.")
    pairs = list(Pair.objects.exclude(verdict="").order_by("pk").values_list("pk", "verdict", "reasons"))
    said = {pk: (verdict, [gloss(verdict), *sentences]) for pk, verdict, sentences in pairs}
    for verdict in GLOSSES:
        of_verdict = [pk for pk in said if said[pk][0] == verdict]
        for pk in random.Random(given.seed).sample(of_verdict, min(given.count, len(of_verdict))):
            print(f"\n{verdict}, pair {pk}:", *said[pk][1], sep="\n  ")
    wrong = {pk: found for pk, (_, sentences) in said.items() if (found := contradictions(sentences))}
    for pk, found in wrong.items():
        print(f"Pair {pk}:", *found, sep="\n  ")
    print(f"\n{len(wrong)} of {len(said)} pairs with sentences that contradict each other.")


if __name__ == "__main__":
    main()
