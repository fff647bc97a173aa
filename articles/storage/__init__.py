"""The writers of articles: what comes in, what is brought up to date, and what is learnt of newspapers."""
