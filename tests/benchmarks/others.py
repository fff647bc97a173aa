"""A tool that needs an environment of its own: `PYTHON others.py text-dedup ARTICLES.jsonl PAIRS.npz THRESHOLD`.

PYTHON is of that environment, and does not know newsdedup. The articles are lines with `id` and `text`.
"""

import itertools
import os
import pickle
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np


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


if __name__ == "__main__":
    _, _, articles, output, threshold = sys.argv
    pairs = run_text_dedup(Path(articles), threshold)
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    np.savez(output, left=left, right=right)
