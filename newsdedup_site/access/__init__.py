"""Who may open which address: rights, the table of addresses, and the middleware that enforces it."""
