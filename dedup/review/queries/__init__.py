"""The queries of the review pages, one module for each kind of page.

A dataclass that a view passes to a template with vars() has no slots.
"""
