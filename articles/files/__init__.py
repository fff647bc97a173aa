"""Reads articles from files and writes them to files."""
