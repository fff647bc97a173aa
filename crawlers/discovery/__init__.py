"""From the address of a home page to the sources that a newspaper can be crawled by.

`discover` in asking.py is the way in; found.py has what it returns.
"""
