"""`python -m newsdedup_site.embedded keep|stop|start|home`."""

import sys

from newsdedup_site.embedded.server import main

sys.exit(main(sys.argv[1:]))
