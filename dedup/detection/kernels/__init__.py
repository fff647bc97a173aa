"""Sets of tokens, and the joins and sketches that compare millions of them. Pure."""
