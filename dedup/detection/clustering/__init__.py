"""Clusters from judged pairs and editors' decisions."""
