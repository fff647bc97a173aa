#!/usr/bin/env python
"""The entry point for commands in a checkout; installed, it is `newsdedup`."""

from newsdedup.program import run

if __name__ == "__main__":
    run()
