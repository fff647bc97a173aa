"""The read models of the pages: what each page asks of the database, one module for each kind of page."""
