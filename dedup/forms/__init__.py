"""The forms of the review pages."""
