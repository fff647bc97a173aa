"""`python -m newsdedup`: what `newsdedup` is where no script is installed."""

from newsdedup.program import run

run()
