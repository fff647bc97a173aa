"""`python -m dedup.spark` is `newsdedup-spark`."""

import sys

from dedup.spark.command import main

sys.exit(main())
