"""The writer of profiles."""

from __future__ import annotations

from django.db import transaction

from dedup.detection.clustering.questions import update_questions
from dedup.models import Profile, ProfileRule

_COPIED = ("newspaper_id", "other_id", "settings", "left_out", "retired")


def save_profile(profile: Profile, *, rules_of: Profile | None = None, reschedule: bool = False) -> None:
    """Store a profile. A new default replaces the old one; a copy also gets the rules of the profile that it copies.

    `reschedule`: the time of its nightly run has changed. If the new default asks about other pairs, the queue follows.
    """
    with transaction.atomic():
        asked_from = _asked_from()
        if profile.is_default:
            Profile.objects.exclude(pk=profile.pk).filter(is_default=True).update(is_default=False)
        profile.save()
        if rules_of is not None:
            _copy_rules(rules_of, profile)
        if reschedule:
            _schedule(profile)
        if _asked_from() != asked_from:
            update_questions(None)


def _asked_from() -> float | None:
    return Profile.objects.filter(is_default=True).values_list("asked_from", flat=True).first()


def _copy_rules(source: Profile, profile: Profile) -> None:
    ProfileRule.objects.bulk_create(
        ProfileRule(profile=profile, **{name: getattr(rule, name) for name in _COPIED}) for rule in source.rules.all()
    )


def _schedule(profile: Profile) -> None:
    from dedup.detection.runs.tasks import schedule_nightly  # noqa: PLC0415 - the tasks import the pipeline and its kernels

    schedule_nightly(profile)
