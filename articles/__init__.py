"""Newspapers and their articles: normalisation, extraction, storage."""
