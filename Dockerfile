FROM python:3.13-slim

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1 LANG=C.UTF-8
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin newsdedup
WORKDIR /app

COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes -r requirements.txt

COPY pyproject.toml README.md LICENSE manage.py gunicorn.conf.py ./
COPY newsdedup_site newsdedup_site
COPY articles articles
COPY dedup dedup
COPY crawlers crawlers
COPY templates templates
# The pages at /help/ are made of it.
COPY docs docs
# The database is not asked: collecting needs a key and an address, and uses neither. The key is forgotten.
RUN pip install --no-cache-dir --no-deps --no-build-isolation --no-index --editable . \
    && SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(50))')" \
       DATABASE_URL=postgres://nobody@localhost/none python manage.py collectstatic --no-input \
    && mkdir -p var/crawl && chown newsdedup var/crawl

USER newsdedup
EXPOSE 8000
CMD ["gunicorn", "--bind", "0.0.0.0:8000", "newsdedup_site.wsgi"]
