"""Django's PostgreSQL backend over the embedded server, started when a connection is asked for."""
