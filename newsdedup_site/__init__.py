"""The Django project: settings, URLs, and the embedded PostgreSQL server."""
