# Pinned by a tag. Whoever builds for production adds the digest of the image that they have checked: @sha256:...
FROM python:3.13-slim-bookworm

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1 LANG=C.UTF-8
RUN groupadd --gid 10001 newsdedup \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin newsdedup
WORKDIR /app

COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes -r requirements.txt

COPY pyproject.toml setup.py README.md LICENSE manage.py gunicorn.conf.py ./
COPY newsdedup newsdedup
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
    && mkdir -p var/crawl var/tmp && chown 10001:10001 var/crawl var/tmp

# By number: Kubernetes cannot tell from a name that it is not root.
USER 10001:10001
EXPOSE 8000
CMD ["gunicorn", "--bind", "0.0.0.0:8000", "newsdedup_site.wsgi"]
