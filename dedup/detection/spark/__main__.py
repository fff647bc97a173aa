"""`python -m dedup.detection.spark` is `newsdedup-spark`."""

import sys

from dedup.detection.spark.command import main

sys.exit(main())
