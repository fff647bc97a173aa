"""Runs on a cluster, seen from the database: what it is given, and how its results are stored."""
