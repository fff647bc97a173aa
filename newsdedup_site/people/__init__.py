"""People: their roles, one-time links to set a password, blocking, and the log of all that."""
