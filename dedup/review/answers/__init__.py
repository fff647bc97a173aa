"""The decisions of editors: their writers, batches, the history, and what happens to them when articles go."""
