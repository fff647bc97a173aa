"""Five invented newspapers on loopback, and the truth about each pair of their articles.

Data flows from stories (the prose) through scenarios (which paper prints what, and when) and site and pages (bytes) to
the server. `manifest` lists what detection must find in the same scenarios. Nothing here uses Django or a clock: the
same stories and addresses give the same bytes.
"""
