"""The spiders: one for each way in which newspapers tell of their articles."""
