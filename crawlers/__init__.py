"""The spiders that visit newspapers and store their articles; also the home of `manage.py crawl`."""
