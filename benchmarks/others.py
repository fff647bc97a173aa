"""A tool that needs an environment of its own: `PYTHON others.py TOOL ARTICLES.jsonl PAIRS.npz THRESHOLD`.

PYTHON is of that environment, and does not know newsdedup. The tool is text-dedup or splink. The articles are lines
with `id` and `text`.
"""

import itertools
import os
import pickle
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

# For splink: the distinct words of each article, and the eight of them that the fewest other articles have.
_WORDS_SQL = """
CREATE TABLE article AS
WITH said AS (
    SELECT id, list_distinct(string_split(text, ' ')) AS words
    FROM read_json(?, columns = {id: 'BIGINT', text: 'VARCHAR'})
),
word_of AS (SELECT id, unnest(words) AS word FROM said),
shared AS (SELECT word, count(*) AS articles FROM word_of GROUP BY word HAVING count(*) > 1),
rare AS (
    SELECT id, list(word ORDER BY articles, word)[:8] AS rare_words FROM word_of JOIN shared USING (word) GROUP BY id
)
SELECT id AS unique_id, words, rare_words FROM said JOIN rare USING (id)
"""


def run_text_dedup(articles: Path, threshold: str) -> list[tuple[int, int]]:
    """text_dedup.minhash as its documentation runs it: sets of 5 words, 256 permutations, two processes.

    It verifies nothing and returns groups. A pair is any two articles of a group.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HF_HOME"] = folder
        from text_dedup.minhash import main as minhash  # noqa: PLC0415 - after the environment is set

        options = ["--path", "json", "--data_files", str(articles), "--split", "train", "--cache_dir", folder]
        options += ["--column", "text", "--idx_column", "id", "--output", f"{folder}/output", "--debug"]
        options += ["--threshold", threshold, "--num_perm", "256", "--ngram", "5", "--num_proc", "2"]
        minhash(options, standalone_mode=False)
        found = pickle.loads(Path(f"{folder}/output/uf.pkl").read_bytes())  # noqa: S301 - just written
    groups = defaultdict(list)
    for article in list(found.parent):
        groups[found.find(article)].append(article)
    return [pair for group in groups.values() for pair in itertools.combinations(sorted(group), 2)]


def run_splink(articles: Path, threshold: str) -> list[tuple[int, int]]:
    """Splink on DuckDB, with two threads: pairs that share a rare word, compared by a level of their sets of words.

    It has no way of its own to look for similar texts. Records are blocked by an array that it explodes, as its
    documentation shows it for names. A model of probabilities cannot be learnt: its training takes no such blocks, and
    needs several columns that agree or differ independently.
    """
    import duckdb  # noqa: PLC0415 - only splink's environment has these
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on  # noqa: PLC0415
    from splink.comparison_level_library import CustomLevel, ElseLevel, NullLevel  # noqa: PLC0415
    from splink.comparison_library import CustomComparison  # noqa: PLC0415

    connection = duckdb.connect(config={"threads": 2})
    connection.execute(_WORDS_SQL, [str(articles)]).fetchall()
    shared = 'len(list_intersect("words_l", "words_r"))'
    similar = f'{shared} >= {float(threshold)} * (len("words_l") + len("words_r") - {shared})'
    levels = [NullLevel("words"), CustomLevel(similar, label_for_charts="similar"), ElseLevel()]
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[CustomComparison(levels, output_column_name="words")],
        blocking_rules_to_generate_predictions=[block_on("rare_words", arrays_to_explode=["rare_words"])],
    )
    compared = Linker(DuckDBAPI(connection).register("article"), settings).inference.predict().as_record_list()
    return [tuple(sorted((each["unique_id_l"], each["unique_id_r"]))) for each in compared if each["gamma_words"] == 1]


TOOLS = {"text-dedup": run_text_dedup, "splink": run_splink}

if __name__ == "__main__":
    _, tool, articles, output, threshold = sys.argv
    pairs = TOOLS[tool](Path(articles), threshold)
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    np.savez(output, left=left, right=right)
