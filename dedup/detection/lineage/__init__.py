"""Who of a cluster ran the text first, who follows whom, and what kind of reuse it is. Pure.

articles.py (what is asked about, and the answer) <- direction <- trace.
"""
