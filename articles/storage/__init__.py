"""Writes articles: stores new ones, updates stored ones, and learns affixes and URL parameters."""
