"""The corpus: articles without their duplicates, in files for research."""
