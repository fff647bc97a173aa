"""Finds pairs of articles, compares them, judges them and groups them."""
