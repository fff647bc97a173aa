"""Articles from files and into files."""
