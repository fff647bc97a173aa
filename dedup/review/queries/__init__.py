"""The queries of the review pages, one module for each kind of page."""
