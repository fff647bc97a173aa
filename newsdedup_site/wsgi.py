"""The WSGI application that gunicorn serves."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
application = get_wsgi_application()
# Django loads the pages in the first request. With gunicorn.conf.py, this loads them once for all processes.
import_module(settings.ROOT_URLCONF)
