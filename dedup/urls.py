"""The addresses of the review pages."""

from django.urls import path

from dedup.views import articles, boilerplate, clusters, dashboard, groups, history, pairs, reports, runs, series

urlpatterns = [
    path("", dashboard.dashboard, name="dashboard"),
    path("queue/", pairs.queue, name="queue"),
    path("pairs/<int:pair_id>/", pairs.pair, name="pair"),
    path("pairs/<int:pair_id>/decide/", pairs.pair_decide, name="pair_decide"),
    path("compare/", pairs.compare, name="compare"),
    path("clusters/", clusters.clusters, name="clusters"),
    path("clusters/<int:cluster_id>/", clusters.cluster, name="cluster"),
    path("clusters/<int:cluster_id>/confirm/", clusters.cluster_confirm, name="cluster_confirm"),
    path("clusters/<int:cluster_id>/reject/", clusters.cluster_reject, name="cluster_reject"),
    path("clusters/<int:cluster_id>/take-out/", clusters.cluster_take_out, name="cluster_take_out"),
    path("clusters/<int:cluster_id>/keep/", clusters.cluster_keep, name="cluster_keep"),
    path("series/", series.series_list, name="series_list"),
    path("series/<int:series_id>/", series.series, name="series"),
    path("series/<int:series_id>/rule/", series.series_rule, name="series_rule"),
    path("series/<int:series_id>/end-rule/", series.series_end_rule, name="series_end_rule"),
    path("groups/", groups.groups, name="groups"),
    path("groups/<int:group_id>/", groups.group, name="group"),
    path("groups/<int:group_id>/confirm/", groups.group_confirm, name="group_confirm"),
    path("groups/<int:group_id>/rule/", groups.group_rule, name="group_rule"),
    path("groups/<int:group_id>/end-rule/", groups.group_end_rule, name="group_end_rule"),
    path("boilerplate/", boilerplate.boilerplate_list, name="boilerplate_list"),
    path("boilerplate/<int:newspaper_id>/<uuid:digest>/", boilerplate.boilerplate, name="boilerplate"),
    path("boilerplate/<int:newspaper_id>/<uuid:digest>/keep/", boilerplate.boilerplate_keep, name="boilerplate_keep"),
    path(
        "boilerplate/<int:newspaper_id>/<uuid:digest>/end-keeping/",
        boilerplate.boilerplate_end_keeping,
        name="boilerplate_end_keeping",
    ),
    path("articles/", articles.articles, name="articles"),
    path("articles/<int:article_id>/", articles.article, name="article"),
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", runs.run_new, name="run_new"),
    path("runs/<int:run_id>/", runs.run, name="run"),
    path("reports/", reports.reports, name="reports"),
    path("reports/<slug:name>/", reports.report, name="report"),
    path("reports/<slug:name>.csv", reports.report_csv, name="report_csv"),
    path("reports/<slug:name>.json", reports.report_json, name="report_json"),
    path("history/", history.history, name="history"),
    path("decisions/<int:decision_id>/undo/", history.undo, name="undo"),
]
