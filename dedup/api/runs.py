"""Runs: listed, read and asked for."""

from typing import Any, Self

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field, StrictBool, model_validator

from articles.models import Job, Newspaper
from articles.querysets import days_fault
from dedup.api.auth import READS, RUNS, TokenRequest
from dedup.api.problems import refused
from dedup.api.requests import Body, Day, Number, Page, PageQuery, Text, page_of
from dedup.api.shapes import RequestRow, RunRow, in_collections, request_row, run_row
from dedup.detection.runs.profiles import ProfileError, configs_of, default_profile, enabled, profile_named
from dedup.detection.runs.requests import Wanted, request_run
from dedup.models import DetectionRun, Profile

router = Router(tags=["runs"])
requests = Router(tags=["runs"])


class NewRun(Body):
    """What to compare: all articles, or those of these days and newspapers."""

    profile: Text | None = Field(None, max_length=100, description="Its name; without it, the default profile.")
    since: Day | None = None
    until: Day | None = None
    newspapers: list[Text] = Field([], max_length=1000, description="Their names; none: all.")
    collections: list[Text] = Field([], max_length=1000, description="Names of collections of newspapers, as well.")
    new: StrictBool = Field(False, description="Compare only articles that are new or have changed.")

    @model_validator(mode="after")
    def in_order(self) -> Self:
        """Return the run if its days are in order."""
        if fault := days_fault(self.since, self.until):
            raise ValueError(fault)
        return self


class AskedRun(Schema):
    """A run that was asked for: it waits for a worker as `request`, or goes on already as `run`."""

    request: RequestRow | None
    run: RunRow | None
    queued: bool = Field(description="False if the same run was waiting or going on before.")


@router.get("", auth=READS, response=Page[RunRow], summary="List runs")
def list_runs(request: HttpRequest, query: Query[PageQuery]) -> Page[Any]:
    """List runs, the latest first."""
    return page_of(request, DetectionRun.objects.all(), query, ("-id",), run_row)


@router.get("/{int:run_id}", auth=READS, response=RunRow, summary="Read a run")
def read_run(request: HttpRequest, run_id: Number) -> dict[str, Any]:
    """Return a run."""
    return run_row(get_object_or_404(DetectionRun, pk=run_id))


@router.post("", auth=RUNS, response={202: AskedRun}, summary="Ask for a run", url_name="list_runs")
def ask_for_run(request: TokenRequest, body: NewRun, response: HttpResponse) -> AskedRun:
    """Queue a run for the worker, unless the same run already waits or goes on."""
    newspapers = {*_newspapers(body.newspapers), *in_collections("body/collections", body.collections)}
    wanted = Wanted(_profile(body.profile), body.since, body.until, sorted(newspapers, key=str), body.new)
    asked, queued = request_run(wanted, user=request.auth.owner)
    if isinstance(asked, DetectionRun):
        response["Location"] = f"/api/v1/runs/{asked.pk}"
        return AskedRun(request=None, run=run_row(asked), queued=queued)
    response["Location"] = f"/api/v1/run-requests/{asked.pk}"
    return AskedRun(request=request_row(asked), run=None, queued=queued)


@requests.get("/{int:request_id}", auth=READS, response=RequestRow, summary="Read a request for a run")
def read_request(request: HttpRequest, request_id: Number) -> dict[str, Any]:
    """Return a run that was asked for; `run` is its number once a worker has started it."""
    return request_row(get_object_or_404(Job, pk=request_id, kind="run"))


def _profile(name: str | None) -> Profile:
    """Return the profile with this name, or the default one, if a run can use it. Raises ProblemError, 422."""
    try:
        profile = default_profile() if name is None else profile_named(name)
        configs = configs_of(profile.settings)
    except ProfileError as error:
        raise refused("body/profile", str(error)) from error
    if not enabled(configs):
        raise refused("body/profile", f"{profile} has no pass enabled; enable one on the page Profiles.")
    return profile


def _newspapers(names: list[str]) -> list[Newspaper]:
    """Return the newspapers with these names. Raises ProblemError, 422, for a name that none has."""
    found = {newspaper.name: newspaper for newspaper in Newspaper.objects.in_use().filter(name__in=names)}
    if missing := [name for name in names if name not in found]:
        raise refused("body/newspapers", f"There is no newspaper {missing[0]!r}.")
    return list(found.values())
