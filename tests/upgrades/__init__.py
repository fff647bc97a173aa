"""Upgrades: states of earlier versions, made by their own code, are migrated and used by today's.

`python -m tests.upgrades` tries all of them; tests/upgrades/test_upgrades.py tries some with every run of the tests.
`python -m tests.upgrades.make_states` makes the state of a release, when it is published.
"""
