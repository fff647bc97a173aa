"""Mutation testing: small faults are put into the code one at a time, and the tests have to notice each of them."""
