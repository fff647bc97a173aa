"""How pages are fetched: which addresses, how large, how often."""
