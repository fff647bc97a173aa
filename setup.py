"""The packages of the wheel. In a checkout, templates and docs are where readers look for them."""

from setuptools import find_packages, setup

BESIDE = {"newsdedup_site.templates": "templates", "newsdedup_site.docs": "docs"}

setup(
    packages=[*find_packages(include=["newsdedup*", "articles*", "dedup*", "crawlers*"]), *BESIDE],
    package_dir=BESIDE,
)
