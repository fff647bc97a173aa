"""The spiders: one for each way in which newspapers list their articles."""
