"""The page of a cluster's lineage, and its files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from dedup.models import Cluster
from dedup.review.queries.clusters import find_cluster, gone_cluster
from dedup.review.queries.lineage import lineage_details
from dedup.rows.files import FORMATS
from dedup.rows.lineage import LINEAGE
from dedup.views.exports import CONTENT_TYPES


def cluster_lineage(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """Show who of a cluster ran the text first, who followed whom, and what each changed."""
    shown = find_cluster(cluster_id)
    if shown is None:
        return render(request, "clusters/cluster_gone.html", vars(gone_cluster(cluster_id)), status=404)
    details = lineage_details(shown, request.GET.get("page"))
    return render(request, "clusters/lineage.html", {"cluster": shown, **vars(details)})


def cluster_lineage_csv(request: HttpRequest, cluster_id: int) -> StreamingHttpResponse:  # noqa: ARG001 - of every view
    """Send who follows whom in a cluster, as CSV."""
    return _file(cluster_id, "csv")


def cluster_lineage_jsonl(request: HttpRequest, cluster_id: int) -> StreamingHttpResponse:  # noqa: ARG001 - of every view
    """Send who follows whom in a cluster, as JSON lines."""
    return _file(cluster_id, "jsonl")


def _file(cluster_id: int, form: str) -> StreamingHttpResponse:
    chosen = Cluster.objects.filter(pk=cluster_id)
    if not chosen.exists():
        raise Http404(f"There is no cluster {cluster_id}.")
    pieces = FORMATS[form](LINEAGE.columns, LINEAGE.rows(chosen))
    headers = {"Content-Disposition": f'attachment; filename="cluster-{cluster_id}-lineage.{form}"'}
    return StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[form], headers=headers)
