"""The documentation as pages: docs/ read from the checkout and rendered."""
