"""The URLs of the pages about crawls."""

from django.urls import path

from crawlers import trial_views, views

urlpatterns = [
    path("crawls/", views.crawls, name="crawls"),
    path("crawls/progress/", views.crawl_progress, name="crawl_progress"),
    path("crawls/log/", views.crawl_log, name="crawl_log"),
    path("crawls/start/", views.crawl_new, name="crawl_new"),
    path("crawls/stop/<int:crawl_id>/", views.crawl_stop, name="crawl_stop"),
    path("crawls/add/", trial_views.newspaper_add, name="newspaper_add"),
    path("crawls/trials/<int:trial_id>/", trial_views.trial, name="trial"),
    path("crawls/trials/<int:trial_id>/state/", trial_views.trial_state, name="trial_state"),
    path("crawls/<int:newspaper_id>/try/", trial_views.newspaper_try, name="newspaper_try"),
    path("crawls/<int:newspaper_id>/", views.newspaper_crawls, name="newspaper_crawls"),
    path("crawls/<int:newspaper_id>/schedule/", views.crawl_schedule, name="crawl_schedule"),
    path("crawls/<int:newspaper_id>/take-back/", views.crawl_take_back, name="crawl_take_back"),
]
