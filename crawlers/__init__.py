"""Visits newspapers and stores their articles: the Scrapy project behind `manage.py crawl`."""
