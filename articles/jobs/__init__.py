"""Background jobs: their kinds, and the one writer of them."""
