"""The Django project: settings, addresses, and the embedded PostgreSQL server."""
