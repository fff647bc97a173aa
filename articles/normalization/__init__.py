"""Pure functions that bring URLs, titles and texts into the forms that are compared.

NORMALIZER_VERSION grows with every change of a result; it is stored with each article, so that a
change of the rules finds the articles that still carry the old forms.
"""

NORMALIZER_VERSION = 2
