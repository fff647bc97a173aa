"""From the address of a home page to the sources that a newspaper can be crawled by; `discover` is the way in."""
