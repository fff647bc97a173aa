"""Django settings, read from the environment and a `.env` file; an invalid value prevents the start.

Each variable is listed with its meaning and default in docs/settings.md.
"""

import logging
import sys
from pathlib import Path

from csp.constants import NONE, SELF

from articles.normalization.logins import LogRecord
from newsdedup_site import embedded, environment

BASE_DIR = Path(__file__).resolve().parent.parent
# Templates and docs: of a checkout, or as the wheel has them (setup.py).
ASSETS = BASE_DIR if (BASE_DIR / "templates").is_dir() else Path(__file__).resolve().parent
environment.read_file(BASE_DIR / ".env")

DEBUG = environment.boolean("DEBUG", default=False)
# Without DATABASE_URL this is a trial on one machine: embedded server, generated key, loopback hosts.
EMBEDDED_DATABASE = not environment.text("DATABASE_URL")
# A folder with a database of its own, which `newsdedup clean` makes.
IN_PROJECT = bool(environment.text("NEWSDEDUP_PROJECT"))

ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS", default=[])
# True behind a proxy that terminates TLS, sets X-Forwarded-Proto and appends to X-Forwarded-For.
BEHIND_TLS_PROXY = environment.boolean("BEHIND_TLS_PROXY", default=False)
# True where other machines use the pages without TLS: somebody has decided that.
PLAIN_HTTP = environment.boolean("PLAIN_HTTP", default=False)
SERVES_OTHERS = BEHIND_TLS_PROXY or bool(environment.hosts_elsewhere(ALLOWED_HOSTS, CSRF_TRUSTED_ORIGINS))
TRIAL = EMBEDDED_DATABASE and not SERVES_OTHERS

trial_key = f"trial-on-one-machine-{embedded.trial_key()}" if TRIAL else ""
SECRET_KEY = environment.secret_key("SECRET_KEY", default=trial_key)
DATABASES = {"default": embedded.database_settings() if EMBEDDED_DATABASE else environment.database("DATABASE_URL")}
DATABASES["default"] = environment.with_options(DATABASES["default"], sys.argv)
# Tests use a database created from template0, in the same UTF-8 locale as production.
DATABASES["default"]["TEST"] = {"TEMPLATE": "template0", "CHARSET": "UTF8"}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

if BEHIND_TLS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
# Sent over TLS only, and by browsers believed for a year unless set otherwise.
SECURE_HSTS_SECONDS = environment.number("HSTS_SECONDS", default=31_536_000, least=1) if BEHIND_TLS_PROXY else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = environment.boolean("HSTS_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = environment.boolean("HSTS_PRELOAD", default=False)
# Django's defaults, said here because they are promised; newsdedup_site/environment.py checks what production needs.
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SILENCED_SYSTEM_CHECKS = environment.BY_CHOICE + (environment.OF_TLS if PLAIN_HTTP or not SERVES_OTHERS else [])

INSTALLED_APPS = [
    "newsdedup_site.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "axes",
    "bootstrap",
    "csp",
    "django_filters",
    "django_htmx",
    "django_tasks",
    "pgtrigger",
    "articles",
    "crawlers",
    "dedup",
    "django_tasks_db",  # after dedup, which has a db_worker of its own
    "newsdedup_site",
]

MIDDLEWARE = [
    "dedup.api.problems.api_answers",
    "newsdedup_site.unavailable.answer_soon",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "newsdedup_site.access.addresses.RightsMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "newsdedup_site.urls"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# A trial serves static files from the packages; production collects them first.
SERVE_COLLECTED_STATIC = environment.boolean("SERVE_COLLECTED_STATIC", default=not (DEBUG or EMBEDDED_DATABASE))
STATIC_URL = "static/"
# The pictures of the documentation, under the names that its pages use.
STATICFILES_DIRS = [
    (f"docs/{folder}", ASSETS / "docs" / folder) for folder in ("architecture", "benchmarks", "pictures")
]
# What programs write; never among installed packages.
VAR = (BASE_DIR if ASSETS == BASE_DIR else embedded.home()) / "var"
STATIC_ROOT = VAR / "static" if SERVE_COLLECTED_STATIC else None
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if SERVE_COLLECTED_STATIC
        else "django.contrib.staticfiles.storage.StaticFilesStorage",
    },
}
WHITENOISE_USE_FINDERS = not SERVE_COLLECTED_STATIC
# No other site uses our files; whitenoise would allow it, for networks that deliver files for others.
WHITENOISE_ALLOW_ALL_ORIGINS = False

# Nothing inline and nothing from other sites; the admin of Django 5.2 complies with it too.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "newsdedup_site.access.backend.RightsBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "dashboard"
LOGOUT_REDIRECT_URL = "login"
# How long a one-time link to set a password works, in seconds.
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600
# Wrong passwords: the limits are in newsdedup_site/logins.py, by these parameters of django-axes.
AXES_HANDLER = "newsdedup_site.logins.LimitsHandler"
AXES_LOCKOUT_CALLABLE = "newsdedup_site.logins.locked_out"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"], "ip_address", "username"]
AXES_CLIENT_IP_CALLABLE = "newsdedup_site.logins.counted_address"
# An attempt while locked is refused unread and does not prolong the lock.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_VERBOSE = False

# Without EMAIL_URL nothing is sent: admins hand over one-time links themselves.
SEND_EMAIL = bool(environment.text("EMAIL_URL"))
if SEND_EMAIL:
    globals().update(environment.email("EMAIL_URL"))
    EMAIL_TIMEOUT = 10
    DEFAULT_FROM_EMAIL = environment.required("EMAIL_FROM")

# Where these pages are, for links in e-mails and webhooks; without the last slash.
SITE_URL = environment.site("SITE_URL")
# Alarms: whom they are sent to (nobody here: every admin with an address), after how many days again, and the bounds.
ALARM_EMAIL = environment.mail_addresses("ALARM_EMAIL")
ALARM_REPEAT_DAYS = environment.number("ALARM_REPEAT_DAYS", default=7, least=1)
ALARM_NIGHTLY_MINUTES = environment.number("ALARM_NIGHTLY_MINUTES", default=60, least=1)
ALARM_DISK_FREE = environment.share("ALARM_DISK_FREE", default=0.1)
ALARM_DATABASE_GIGABYTES = (
    environment.number("ALARM_DATABASE_GIGABYTES", default=100, least=1)
    if environment.text("ALARM_DATABASE_GIGABYTES")
    else None
)
# With it, and only with it, a program may read /metrics; there is no such address without one.
METRICS_TOKEN = environment.secret("METRICS_TOKEN", least=32)

# What a program may send: requests a minute with one token, and bytes at once. No form is nearly as large.
API_REQUESTS_A_MINUTE = environment.number("API_REQUESTS_A_MINUTE", default=600, least=1)
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000 * environment.number("API_MEGABYTES", default=10, least=1)

# How many bytes a file may have that is imported in the browser.
IMPORT_BYTES = 1_000_000 * environment.number("IMPORT_MEGABYTES", default=200, least=1)

# The share of decided pairs, 0..1, that come again to a second editor, who does not see the first answer.
SECOND_READINGS = environment.share("SECOND_READINGS", default=0.05)

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

LANGUAGE_CODE = "en-gb"
TIME_ZONE = environment.time_zone("TIME_ZONE", default="UTC")
USE_I18N = False
USE_TZ = True

# Whether everybody may read the stories, also without a login: headlines, first sentences and links, never texts.
STORIES_PUBLIC = environment.boolean("STORIES_PUBLIC", default=False)

# Where `manage.py crawl` keeps its queues while it runs.
CRAWL_STATE_DIR = Path(environment.text("CRAWL_STATE_DIR", default=str(VAR / "crawl")))
# Private networks that a crawl may reach nevertheless.
CRAWL_PRIVATE_ADDRESSES = environment.networks("CRAWL_PRIVATE_ADDRESSES")
# What fetches a page for an editor who checks it: the bounds of crawls, for the review pages, which know no crawler.
PAGE_FETCHER = "crawlers.one_page.fetch_article"
# What sends webhooks, within the same bounds.
WEBHOOK_SENDER = "crawlers.posting.post"
# What a worker does next to its tasks: crawls that were asked for on pages, or are due.
CRAWL_SUPERVISOR = "crawlers.requested.supervisor.supervise"
# What else it does: it looks for what an admin has to see to, and tells it.
ALARM_WATCH = "newsdedup_site.alarms.recording.watch"
# And it deletes fetched pages that newspapers keep no longer.
RETENTION_WATCH = "newsdedup_site.privacy.retention.watch"
# What a run does at its end: runs know no reports, which read what runs have found.
AFTER_RUN = "dedup.reports.computing.compute_after_run"

LOG_LEVEL = environment.log_level("LOG_LEVEL", default="WARNING")
# No log has a password that is part of a URL, whoever writes it.
logging.setLogRecordFactory(LogRecord)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"one_line": {"()": "newsdedup_site.unavailable.OneLine"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["one_line"]}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
}
