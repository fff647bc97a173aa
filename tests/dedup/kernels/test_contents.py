import random

import pytest

from articles.normalization.text import normalize_text
from dedup.detection.kernels.masked_shingles import has_contents

SYLLABLES = {
    "en": ("fer har coun bri gar cap en mar tow ligh schoo riv brew clo mu", " "),
    "si": ("නැ ව රා ය ස භා පා ල ම උ ය න ක පි තා", " "),
    "zh": ("渡 轮 港 口 议 会 大 桥 花 园 船 长 引 擎 市 场 塔 楼 灯 学 校 河 流 酒 厂 时 钟 博 物 馆", ""),
}


def text(language: str, seed: int, words: int = 120) -> str:
    """Return a text of random words of three syllables."""
    dice = random.Random(f"{language} {seed}")
    syllables, blank = SYLLABLES[language]
    return blank.join("".join(dice.choices(syllables.split(), k=3)) for _ in range(words))


@pytest.mark.parametrize("language", SYLLABLES)
def test_unrelated_texts_are_separate_contents(language: str) -> None:
    texts = [normalize_text(text(language, seed)) for seed in range(4)]
    assert has_contents(texts, 4)
    assert not has_contents(texts, 5)


@pytest.mark.parametrize("language", SYLLABLES)
def test_versions_of_a_story_are_one_content(language: str) -> None:
    story, tenth = text(language, 1), len(text(language, 1)) // 10
    changed = story[:tenth] + text(language, 7, 20) + story[3 * tenth : 6 * tenth] + text(language, 8, 20)
    cropped = story[: 4 * tenth]
    assert not has_contents([story, changed, cropped, story], 2)
    assert has_contents([story, changed, text(language, 2)], 2)


def test_a_ticker_whose_texts_grow_out_of_each_other_is_one_content() -> None:
    entries = [text("en", seed, 60) for seed in range(30)]
    ticker = [" ".join(reversed(entries[max(0, last - 5) : last + 1])) for last in range(30)]
    assert has_contents([ticker[0], ticker[-1]], 2)
    assert not has_contents(ticker, 2)
    between = [content for pair in zip(ticker, [text("en", 99)] * 30, strict=True) for content in pair]
    assert has_contents(between, 2)
    assert not has_contents(between, 3)


def test_empty_texts_have_no_content_and_short_ones_do() -> None:
    assert not has_contents(["", "", ""], 1)
    assert not has_contents([], 1)
    assert has_contents(["comment now", "more to follow"], 2)
    assert not has_contents(["comment now", "comment now"], 2)


def test_it_reads_no_more_texts_than_needed() -> None:
    read = []
    texts = (read.append(seed) or text("en", seed) for seed in range(100))
    assert has_contents(texts, 3)
    assert read == [0, 1, 2]
