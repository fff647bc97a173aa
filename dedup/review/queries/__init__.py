"""The read models of the pages: what each page asks of the database, one module for each kind of page.

A dataclass whose fields a view hands to the template by name, with vars(), has no slots.
"""
