"""What an export says of itself, and what is refused."""

import dataclasses
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from dedup.detection.passes import PASSES
from dedup.detection.spark.command import TILE_PAIRS, OptionError, main, with_passes, with_threshold
from dedup.detection.spark.manifest import (
    BundleError,
    Manifest,
    VersionsError,
    check_versions,
    planned,
    versions,
    window_pairs,
)


def manifest_of(days: dict[str, int], **changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "versions": versions(),
        "comparison": 5,
        "made_at": "2026-03-09T12:00:00+00:00",
        "articles": sum(days.values()),
        "newest": 99,
        "days": [list(day) for day in sorted(days.items())],
        "months": {},
        "texts": {"text": 1_000, "content": 1_200},
        "newspapers": 2,
        "since": None,
        "until": None,
        "boilerplate": "keep",
        "profile": "default",
        "config": {name: dataclasses.asdict(detection_pass.config_class()) for name, detection_pass in PASSES.items()},
        "passes": None,
        "rules": [],
        "newspaper_ids": None,
        "same_as": "cropped",
        "model": "{}",
        "tables": {},
        "files": {},
    }
    return Manifest(**(values | changes))


DAYS = {"2026-03-02": 100, "2026-03-03": 50, "2026-03-09": 10}


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    manifest = manifest_of(DAYS, until="2026-03-05")
    path = tmp_path / "folder" / "manifest.json"
    manifest.write(path)
    again = Manifest.read(path)
    assert again == manifest
    assert (
        again.fingerprint() == manifest.fingerprint() == manifest_of(DAYS, until="2026-03-05", made_at="").fingerprint()
    )
    assert again.fingerprint() != manifest_of(DAYS).fingerprint()
    assert (str(again.first_day), str(again.last_day)) == ("2026-03-02", "2026-03-05")
    assert {name: type(config) for name, config in again.configs().items()} == {
        name: detection_pass.config_class for name, detection_pass in PASSES.items()
    }
    with pytest.raises(BundleError, match=re.escape("there is no manifest.json")):
        Manifest.read(tmp_path / "manifest.json")
    path.write_text('{"articles": 1}')
    with pytest.raises(BundleError, match="make an export with"):
        Manifest.read(path)


def test_other_versions_are_named() -> None:
    ours = versions()
    check_versions(ours, dict(ours), theirs_are="the export", ours_are="here")
    with pytest.raises(VersionsError, match=re.escape("Unicode 1.0 in the export and 14.0.0 in here")):
        check_versions(
            {**ours, "Unicode": "1.0"}, {**ours, "Unicode": "14.0.0"}, theirs_are="the export", ours_are="here"
        )


def test_options_change_the_settings_as_those_of_find_duplicates_do() -> None:
    configs = manifest_of(DAYS).configs()
    chosen = with_threshold(with_passes(configs, ["trigram", "url"]), "0.7")
    assert [name for name, config in chosen.items() if config.enabled] == ["url", "trigram"]
    assert chosen["trigram"].threshold == 0.7
    assert with_threshold(configs, "trigram=0.8")["trigram"].threshold == 0.8
    for text, message in (
        ("url=0.5", "does not name one pass of this run"),
        ("trigram=high", "is neither SCORE nor PASS=SCORE"),
        ("trigram=2", "trigram: threshold is 2.0; it must be from 0.3 to 1"),
    ):
        with pytest.raises(OptionError, match=re.escape(message)):
            with_threshold(configs, text)
    with pytest.raises(OptionError, match="there is no pass 'tigram'"):
        with_passes(configs, ["tigram"])


def test_the_plan_counts_the_pairs_within_the_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = manifest_of(DAYS)
    assert window_pairs(manifest, manifest.configs()["trigram"]) == 4950 + (1225 + 5000) + 45
    plan = planned(manifest, with_passes(manifest.configs(), ["trigram"]), tile_pairs=5_000)
    assert (plan.articles, plan.days, plan.largest_day, plan.tiles) == (160, 3, 100, 3)
    manifest.write(tmp_path / "manifest.json")
    assert main(["plan", str(tmp_path)]) == 0
    assert "Articles: 160 on 3 days, at most 100 on one." in capsys.readouterr().out
    assert main(["plan", str(tmp_path / "nothing")]) == 1
    assert "there is no manifest.json" in capsys.readouterr().err
    assert main(["plan", str(tmp_path), "--passes", "none"]) == 2


@pytest.mark.parametrize(("days", "a_day", "seconds"), [(24, 500, 73), (72, 500, 88), (1_558, 8, 144)])
def test_the_plan_is_near_what_measured_runs_took(days: int, a_day: int, seconds: float) -> None:
    """CPU seconds of all processes: see docs/scale.md."""
    manifest = manifest_of({(date(2020, 1, 1) + timedelta(days=number)).isoformat(): a_day for number in range(days)})
    configs = with_passes(manifest.configs(), ["url", "title", "exact", "trigram", "containment"])
    plan = planned(manifest, configs, tile_pairs=TILE_PAIRS)
    assert seconds / 2 < plan.cpu_seconds < seconds * 2
    assert 1_000 < plan.shuffle_bytes / plan.articles < 1_200
    # What more articles cost grows with them, and the pairs within the window with the square of a day's.
    wide = manifest_of({day: 10 * a_day for day, _ in manifest.days})
    more = planned(wide, configs, tile_pairs=TILE_PAIRS)
    pairs, their_pairs = (sum(own_plan.window_pairs.values()) for own_plan in (plan, more))
    fixed = 55 + 5 * 5
    linear = plan.cpu_seconds - fixed - 12.7e-9 * pairs
    assert more.cpu_seconds == pytest.approx(fixed + 10 * linear + 12.7e-9 * their_pairs)
