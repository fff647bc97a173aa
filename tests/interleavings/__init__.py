"""Two writers at once, step by step in every order: what the locks are for."""
