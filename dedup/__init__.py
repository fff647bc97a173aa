"""Detecting, comparing, clustering and reviewing near-duplicate articles."""
