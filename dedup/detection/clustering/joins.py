"""Which stored pairs join by what the default profile counts as the same: no run is needed to change it."""

from django.db import transaction
from django.db.models import Q, QuerySet

from articles.storage.fingerprints import fingerprint
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.types import SameAs
from dedup.detection.verdicts.same_as import JOINING
from dedup.models import Pair, Profile, Watermark

_JOINS = "joins"


def same_as() -> SameAs:
    """Return what counts as the same, by the default profile."""
    chosen = Profile.objects.filter(is_default=True).values_list("same_as", flat=True).first()
    return SameAs(chosen) if chosen else SameAs.CROPPED


def joining_under(wanted: SameAs) -> QuerySet[Pair]:
    """Return the proposed pairs that would join if the default profile counted this as the same.

    Pairs that have no relation yet stay as they are.
    """
    return Pair.objects.proposed().filter(_is_same(wanted) | Q(relation="", joins=True))


def _is_same(wanted: SameAs) -> Q:
    """Return is_same() for stored pairs."""
    return Q(
        *(
            Q(relation=relation, duplicate_probability__gte=least, left_matched__gte=share, right_matched__gte=share)
            for relation, (least, share) in JOINING[wanted].items()
        ),
        _connector=Q.OR,
    )


def update_joins() -> None:
    """Let the stored pairs join by what the default profile counts as the same, unless they do. Compares nothing."""
    with transaction.atomic():
        lock_review()
        wanted = same_as()
        if joins_follow(wanted):
            return
        judged = Pair.objects.exclude(relation="")
        judged.filter(joins=True).exclude(_is_same(wanted)).update(joins=False)
        judged.filter(_is_same(wanted), joins=False).update(joins=True)
        Watermark.objects.update_or_create(name=_JOINS, defaults={"revision": 0, "input_digest": _digest(wanted)})


def joins_follow(wanted: SameAs) -> bool:
    """Return whether the stored pairs join by this."""
    return Watermark.objects.filter(name=_JOINS, input_digest=_digest(wanted)).exists()


def _digest(wanted: SameAs) -> str:
    """Return a digest of the choice and of its bounds, which a later version may set otherwise."""
    return fingerprint(wanted, JOINING[wanted])
