"""Upgrade and use all earlier states, and interrupt upgrades:

    script/with-postgresql 15 .venv/bin/python -m tests.upgrades --kills 5

Works on databases of its own on the server of DATABASE_URL. Exit code 1: something was lost.
"""

import argparse
import json
import os
import random
import sys
import time
from dataclasses import dataclass, field

from tests.databases import own_database, start
from tests.upgrades.states import MIGRATE, STATES, Rows, State, all_rows, differences, restore, use


@dataclass
class Trial:
    state: State
    faults: list[str] = field(default_factory=list)
    pairs: int = 0
    seconds: float = 0.0
    kills: list[str] = field(default_factory=list)


def try_state(state: State, server: str, afresh: list[object]) -> Trial:
    trial = Trial(state)
    with own_database(f"upgrade_{state.name}", server=server) as url:
        restore(state, url)
        began = time.monotonic()
        tried = use(url, state.name)
        trial.seconds = time.monotonic() - began
    trial.faults, trial.pairs = tried["faults"], len(tried["pairs"])
    if tried["pairs"] != afresh:
        trial.faults.append(f"{trial.pairs} pairs are not the {len(afresh)} of a fresh import")
    return trial


def kill_migrations(trial: Trial, server: str, kills: int, numbers: random.Random) -> None:
    """Kill migrate at random moments, and run it again; what comes of it must be what an undisturbed one leaves."""
    undisturbed, took = migrated(trial.state, server, [])
    for _ in range(kills):
        moment = numbers.uniform(0, took)
        after, _ = migrated(trial.state, server, [moment])
        trial.kills.append(f"{moment:.1f} s")
        trial.faults += [f"killed after {moment:.1f} s: {difference}" for difference in unlike(undisturbed, after)]


def migrated(state: State, server: str, kills: list[float]) -> tuple[Rows, float]:
    """Restore a state and migrate it, after killing a first migrate; return all rows, and the seconds of the last."""
    with own_database(f"upgrade_{state.name}", server=server) as url:
        restore(state, url)
        for moment in kills:
            first = start(url, *MIGRATE)
            time.sleep(moment)
            first.kill()
            first.communicate()
        began = time.monotonic()
        # Two at once: the second waits for the first, and finds nothing to do.
        both = [start(url, *MIGRATE) for _ in range(2 if kills else 1)]
        said = [process.communicate()[1] for process in both]
        failed = {
            f"fault-{number}": {"said": text[-500:]} for number, text in enumerate(said) if both[number].returncode
        }
        rows = all_rows(url)
        return rows | ({"migrate": failed} if failed else {}), time.monotonic() - began


def unlike(one: Rows, other: Rows) -> list[str]:
    """Return how the rows of two migrated databases differ, but for moments of their migration."""
    moments = ("applied", "made_at")
    alike = [
        {
            table: {
                key: {name: value for name, value in row.items() if name not in moments} for key, row in rows.items()
            }
            for table, rows in database.items()
            # Whose numbers depend on the order in which apps were migrated.
            if table not in ("auth_permission", "django_content_type", "auth_group_permissions")
        }
        for database in (one, other)
    ]
    return sorted({*differences(*alike), *differences(*reversed(alike))})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.upgrades", description=__doc__.partition("\n")[0])
    parser.add_argument("states", nargs="*", metavar="STATE", help="default: all")
    parser.add_argument(
        "--kills", type=int, default=0, metavar="N", help="kill migrate at N random moments of each state"
    )
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    server = os.environ.get("DATABASE_URL")
    if not server:
        parser.error(
            "DATABASE_URL is not set; run this as script/with-postgresql 15 .venv/bin/python -m tests.upgrades"
        )
    print(f"seed {options.seed}")
    numbers = random.Random(options.seed)
    with own_database("upgrade_fresh", server=server) as url:
        fresh = use(url, "fresh")
    faults = list(fresh["faults"])
    print(json.dumps({"fresh": len(fresh["pairs"]), "faults": faults}), flush=True)
    for state in STATES:
        if options.states and state.name not in options.states:
            continue
        trial = try_state(state, server, fresh["pairs"])
        kill_migrations(trial, server, options.kills, numbers)
        line = {
            "state": state.name,
            "pairs": trial.pairs,
            "seconds": round(trial.seconds, 1),
            "killed after": trial.kills,
        }
        print(json.dumps(line | {"faults": trial.faults}, ensure_ascii=False), flush=True)
        faults += trial.faults
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
