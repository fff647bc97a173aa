"""The full comparison of two articles: what they share, what differs, what recurs. Pure."""
