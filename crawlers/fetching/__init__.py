"""How pages are fetched: from which addresses, how large, how often."""
