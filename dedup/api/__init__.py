"""The API for programs, at /api/v1/: the same articles, pairs, clusters, decisions and runs as on the pages."""
