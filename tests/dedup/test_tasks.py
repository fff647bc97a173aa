"""A run that was asked for on a page, done by a real worker process."""

import os
import subprocess
import sys

import pytest
from django.contrib.auth import get_user_model
from django_tasks.base import TaskResultStatus

from dedup.models import DetectionRun, Profile
from dedup.tasks import find_duplicates_task
from tests.databases import child_environment

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


def work() -> None:
    """Have a worker do what waits, and end."""
    command = [sys.executable, "manage.py", "db_worker", "--batch", "--no-startup-delay"]
    subprocess.run(command, env=os.environ | child_environment(), check=True, capture_output=True, timeout=120)


def test_a_worker_runs_the_detection_for_the_user_who_asked(store) -> None:
    for paper in ("Harbour Post", "Inland Courier"):
        store("The ferry sails at noon on weekdays until the end of May.", newspaper=paper)
    user = get_user_model().objects.create_user("anna")
    profile = Profile.objects.get()
    result = find_duplicates_task.enqueue(profile_id=profile.pk, since="2026-03-01", user_id=user.pk)
    work()
    result.refresh()
    run = DetectionRun.objects.get()
    assert (result.status, result.return_value) == (TaskResultStatus.SUCCESSFUL, run.pk)
    assert (run.state, run.requested_by, run.profile) == ("done", user, profile)
    assert run.scope == {"since": "2026-03-01", "until": None, "newspapers": None, "passes": None}
    assert run.counts["clusters"] == 1


def test_a_run_that_cannot_begin_says_so_where_runs_are_listed() -> None:
    profile = Profile.objects.create(name="odd", settings={"trigram": {"threshold": 7.0}})
    result = find_duplicates_task.enqueue(profile_id=profile.pk)
    work()
    result.refresh()
    assert result.status == TaskResultStatus.FAILED
    run = DetectionRun.objects.get()
    assert (run.state, run.profile_name) == ("failed", "odd")
    assert run.error == "trigram: threshold is 7.0; it must be from 0.3 to 1 (similarity, 0..1)"


def test_a_task_that_cannot_run_is_marked_as_failed() -> None:
    result = find_duplicates_task.enqueue(profile_id=0)
    work()
    result.refresh()
    assert result.status == TaskResultStatus.FAILED
    assert "Profile matching query does not exist" in result.errors[0].traceback
    assert DetectionRun.objects.count() == 0
