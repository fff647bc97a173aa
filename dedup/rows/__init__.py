"""The rows that leave: filters, exports and corpora."""
