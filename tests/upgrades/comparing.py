"""What an upgrade changed: every row and value of before must be there, unless a migration changes it on purpose."""

from __future__ import annotations

from tests.upgrades.restoring import Rows

# table.column -> the migration that changes it, and what for. `table.*`: the whole table goes.
ON_PURPOSE: dict[str, str] = {
    "articles_article.revision": "articles 0027: articles that shared the revision 0 get their own",
    "dedup_articleshingles.sample": "dedup 0048: samples of shingles have a table of their own",
    "dedup_evidence.joins": "dedup 0006: the verdict of a pair says whether it joins a cluster",
    "dedup_fittedmodel.in_use": "dedup 0011, 0016, 0052: a learnt model of other features is switched off",
    "dedup_judgedmonth.*": "dedup 0044: pairs know what their verdicts rest on, months need not",
    "dedup_profile.settings": "dedup 0007, 0015: the default profile proposes more",
    **dict.fromkeys(
        (
            *(
                f"articles_fileimport.{name}"
                for name in ("state", "started_at", "seen_at", "finished_at", "position", "error")
            ),
            *(f"dedup_lesson.{name}" for name in ("state", "asked_by_id", "asked_at", "finished_at")),
            *(f"dedup_storedreport.{name}" for name in ("waiting_since", "requested_by_id")),
            "dedup_runrequest.*",
            "django_tasks_database_dbtaskresult.args_kwargs",
            "django_tasks_database_dbtaskresult.task_path",
        ),
        "articles 0029 to 0031 and dedup 0090 to 0093: what waits for a worker is a job, which its task carries",
    ),
    "dedup_storedreport.counted_at": "dedup 0100: it is computed_at",
    "dedup_storedreport.shown": "dedup 0100: what a result says is its summary",
}


def differences(before: Rows, after: Rows) -> list[str]:
    """Return what of `before` is missing or different, one sentence each. Columns that were added do not count."""
    found: list[str] = []
    for table, rows in before.items():
        if f"{table}.*" in ON_PURPOSE:
            continue
        if table not in after:
            found.append(f"{table} is gone")
            continue
        for key, row in rows.items():
            now = after[table].get(key)
            if now is None:
                found.append(f"{table} {key} is gone: {row}")
                continue
            for column, value in row.items():
                if f"{table}.{column}" in ON_PURPOSE:
                    continue
                if column not in now:
                    found.append(f"{table}.{column} is gone")
                elif now[column] != value:
                    found.append(f"{table} {key}: {column} was {value!r} and is {now[column]!r}")
    return found
