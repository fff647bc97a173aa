"""The embedded PostgreSQL server, for settings, the database backend and manage.py."""

from newsdedup_site.embedded.server import EmbeddedServerError, database_settings, ensure_running, home

__all__ = ["EmbeddedServerError", "database_settings", "ensure_running", "home"]
