"""Finds the sentences that a newspaper repeats from article to article. Pure."""
