"""The earlier states: the first release, and the end of each large change since."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "states"


@dataclass(frozen=True, slots=True)
class State:
    """A commit whose code made the dump `states/NAME.sql.gz`."""

    name: str
    commit: str
    brought: str

    @property
    def path(self) -> Path:
        """The dump: text as pg_dump writes it, compressed."""
        return FOLDER / f"{self.name}.sql.gz"


STATES = (
    State("01_first", "618e1d3", "imports, passes, clusters, decisions and their undo"),
    State("02_verdicts", "f9e5924", "the full comparison, verdicts, series, nightly runs, incremental runs"),
    State("03_boilerplate", "31c13f0", "kept pages, details, learnt habits, links of crawls, boilerplate"),
    State("04_contained", "3ff12b6", "the packages of today, the shingle index, contained text"),
    State("05_newspapers", "6f23776", "viewers, dense groups, times, extra columns, merged newspapers"),
    State(
        "06_desk", "559fd51", "questions, more answers, second readings, batches, rules of profiles, saved views, keys"
    ),
    State("07_research", "6818122", "samples, tokens, the API, webhooks, stored reports"),
    State("08_million", "2a7a251", "marks of what is up to date, indexes for a million articles, runs of a cluster"),
    State("09_crawls", "e55750d", "revisions, extraction rules, crawls and imports in the browser, paces, trials"),
)
