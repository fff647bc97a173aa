"""Whatever dies, and whenever: run the same command again, and every row is there once and as it should be.

`python -m tests.crash` kills commands, their workers and the database server at random points, and fills disks.
"""
