"""Making sure that the server is running."""

import os

from newsdedup_site.embedded.binaries import install_binaries
from newsdedup_site.embedded.connections import answers, make_database
from newsdedup_site.embedded.folders import home, make_folder
from newsdedup_site.embedded.keeper import ensure_keeper
from newsdedup_site.embedded.locks import hold_user_lock, locked
from newsdedup_site.embedded.server import init_data, postmaster, start_server


def ensure_running() -> None:
    """Start the server unless it is running, and keep it running until this process ends.

    Raises EmbeddedServerError, with the end of the server's log, when it cannot be started.
    """
    # PGHOSTADDR, PGSERVICE, PGOPTIONS and the like are for another server, but libpq would use them.
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
    make_folder(home())
    hold_user_lock()
    if answers():
        ensure_keeper()
        return
    with locked("start.lock"):
        if not answers():
            install_binaries()
            init_data()
            if postmaster() is None:
                start_server()
            make_database()
    ensure_keeper()
