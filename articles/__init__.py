"""Newspapers and their articles: normalising, extracting, storing."""
