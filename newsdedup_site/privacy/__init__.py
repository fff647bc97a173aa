"""Removal, withholding and retention: the only ways in which what is stored is ever deleted or hidden."""
