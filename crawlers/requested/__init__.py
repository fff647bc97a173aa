"""Crawls without a shell: asked for on pages or due by a schedule, and done by the worker as jobs."""
