"""Extracts the article from the bytes of a page. Pure."""
