"""The database backend (`ENGINE`) when DATABASE_URL is not set."""

from typing import Any

from django.db.backends.postgresql import base

from newsdedup_site import embedded


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL backend; it starts the server before it connects."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        embedded.ensure_running()
        return super().get_new_connection(conn_params)
