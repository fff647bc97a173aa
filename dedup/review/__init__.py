"""The decisions and rules of editors, and the queries of the review pages."""
