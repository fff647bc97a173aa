"""Five invented newspapers on loopback, and the truth about each pair of their articles.

The way of the data: stories (the prose) -> scenarios (which paper prints what, and when) -> site and pages
(bytes) -> server. `manifest` says of the same scenarios what a detection must find. Nothing here needs
Django or knows a clock: the same stories and addresses give the same bytes.
"""
