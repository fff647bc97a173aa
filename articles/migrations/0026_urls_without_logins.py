"""Takes user names and passwords out of stored URLs; `renormalize` then computes the keys of these articles again."""

import re

from django.db import migrations
from django.db.models import Q

# As in articles/normalization/logins.py when this was written.
LOGIN = re.compile(
    r"\A(?P<head>[\x00-\x20]*+(?:https?:[/\\]*+|(?:[a-z][a-z0-9+.-]*+:)?+[/\\]{2,}+))[^/?#\\]*@", re.IGNORECASE
)
INNER_LOGIN = re.compile(
    r"(?P<head>https?(?::|%3A)(?://|%2F%2F))(?:(?!%2F|%3F|%23)[^\s/?#&])*?(?::|%3A)(?:(?!%2F|%3F|%23)[^\s/?#&])*(?:@|%40)",
    re.IGNORECASE,
)
# Each with the columns that have URLs; of the first two, the articles are marked.
ARTICLE, ARTICLE_URL = ("article", ["url"]), ("articleurl", ["url"])
OTHERS = [
    ("declaredurl", ["url"]),
    ("headlinevariant", ["url"]),
    ("articlepage", ["url"]),
    ("followingpage", ["url"]),
    ("articlerevision", ["url"]),
    ("learntparameter", ["first_url", "second_url"]),
]


def without_login(url):
    shorter = INNER_LOGIN.sub(r"\g<head>", LOGIN.sub(r"\g<head>", url))
    while shorter != url:
        url, shorter = shorter, INNER_LOGIN.sub(r"\g<head>", LOGIN.sub(r"\g<head>", shorter))
    return url


def clean(model, columns):
    """Take the logins out of these columns; return the primary keys of the rows that had some."""
    cleaned = []
    for column in columns:
        rows = model.objects.filter(Q(**{f"{column}__contains": "@"}) | Q(**{f"{column}__contains": "%40"}))
        for pk, url in list(rows.order_by("pk").values_list("pk", column)):
            if (shorter := without_login(url)) != url:
                model.objects.filter(pk=pk).update(**{column: shorter})
                cleaned.append(pk)
    return cleaned


def clean_all(apps, _schema_editor):
    """Clean every column, and mark the articles whose URLs had a login as normalised by older rules."""
    article, url = (apps.get_model("articles", name) for name, _ in (ARTICLE, ARTICLE_URL))
    changed = set(clean(article, ARTICLE[1]))
    changed |= set(url.objects.filter(pk__in=clean(url, ARTICLE_URL[1])).values_list("article_id", flat=True))
    article.objects.filter(pk__in=changed).update(normalizer_version=0)
    for name, columns in OTHERS:
        clean(apps.get_model("articles", name), columns)


class Migration(migrations.Migration):
    dependencies = [("articles", "0025_uploaded_files")]

    operations = [migrations.RunPython(clean_all, migrations.RunPython.noop)]
