"""Limits for wrong passwords: by name and address together, by address alone, and by name alone."""
