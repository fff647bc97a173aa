"""The WSGI application that gunicorn serves; it does not start with settings that are insecure or cannot be used."""

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application
from gunicorn.errors import AppImportError

from articles.loading import load_all
from newsdedup_site.embedded import EmbeddedServerError
from newsdedup_site.environment import refuse_insecure

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")


class NotStartedError(AppImportError, RuntimeError):
    """gunicorn prints its sentence and ends: as the first with the pages loaded in each process, as the second before.

    Of any other exception it prints a traceback, and of some in each process, again and again.
    """


try:
    refuse_insecure(serving=True)
    application = get_wsgi_application()
    # Django loads the pages in the first request, and the pages what draws charts in that of the first chart. With
    # gunicorn.conf.py, this loads them once for all processes.
    import_module(settings.ROOT_URLCONF)
    load_all()
    # Modules stay: no collection of garbage looks through them again, or copies them into each process.
    gc.freeze()
except (EmbeddedServerError, ImproperlyConfigured) as error:
    raise NotStartedError(str(error)) from error
