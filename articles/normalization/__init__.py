"""Pure functions that normalise URLs, titles and texts into the forms that are compared.

Increase NORMALIZER_VERSION with every change of a result. It is stored with each article, so that articles
with outdated forms can be found.
"""

NORMALIZER_VERSION = 4
