"""Figures for monitoring, in the text format of Prometheus."""
