"""Two articles compared in full: what they share, what differs, what recurs. Pure."""
