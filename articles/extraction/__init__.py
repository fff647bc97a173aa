"""From the bytes of a page to an article. Pure."""
