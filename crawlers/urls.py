"""The URLs of the pages about crawls."""

from django.urls import path

from crawlers import views

urlpatterns = [
    path("crawls/", views.crawls, name="crawls"),
    path("crawls/progress/", views.crawl_progress, name="crawl_progress"),
    path("crawls/log/", views.crawl_log, name="crawl_log"),
    path("crawls/start/", views.crawl_new, name="crawl_new"),
    path("crawls/stop/<int:crawl_id>/", views.crawl_stop, name="crawl_stop"),
    path("crawls/<int:newspaper_id>/", views.newspaper_crawls, name="newspaper_crawls"),
    path("crawls/<int:newspaper_id>/schedule/", views.crawl_schedule, name="crawl_schedule"),
    path("crawls/<int:newspaper_id>/take-back/", views.crawl_take_back, name="crawl_take_back"),
]
