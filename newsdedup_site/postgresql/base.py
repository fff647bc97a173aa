"""The database backend that `ENGINE` names when there is no DATABASE_URL."""

from typing import Any

from django.db.backends.postgresql import base

from newsdedup_site import embedded


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own PostgreSQL backend; a new connection finds the server running."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        embedded.ensure_running()
        return super().get_new_connection(conn_params)
