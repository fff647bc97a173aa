"""Crawls without a shell: asked for on pages or due by a schedule, done by the worker."""
