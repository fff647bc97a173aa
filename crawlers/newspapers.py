"""The newspapers that a crawl visits."""

from collections.abc import Sequence

from articles.models import Newspaper


class UnknownNewspaperError(ValueError):
    """A newspaper that is not in the database. The message lists those that are."""


def find_newspapers(references: Sequence[str]) -> list[Newspaper]:
    """Return the newspapers with these names or ids, in that order; without any, all with crawl=True, by name.

    A name takes precedence over an id. Raises UnknownNewspaperError.
    """
    if not references:
        return list(Newspaper.objects.filter(crawl=True).order_by("name"))
    newspapers = list(Newspaper.objects.order_by("name"))
    by_reference = {str(newspaper.pk): newspaper for newspaper in newspapers}
    by_reference |= {newspaper.name: newspaper for newspaper in newspapers}
    unknown = [reference for reference in references if reference not in by_reference]
    if unknown:
        known = ", ".join(newspaper.name for newspaper in newspapers) or "none; add one in the admin"
        raise UnknownNewspaperError(f"no newspaper is named {', '.join(map(repr, unknown))}; known are: {known}")
    return list({by_reference[reference].pk: by_reference[reference] for reference in references}.values())
