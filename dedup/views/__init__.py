"""The review pages: one module for each kind of page. A view parses, calls, renders."""
