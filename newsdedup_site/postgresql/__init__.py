"""Django's PostgreSQL backend for the embedded server, which starts with the first connection."""
