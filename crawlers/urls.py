"""The URLs of the pages about crawls."""

from django.urls import path

from crawlers import views

urlpatterns = [
    path("crawls/", views.crawls, name="crawls"),
    path("crawls/progress/", views.crawl_progress, name="crawl_progress"),
    path("crawls/log/", views.crawl_log, name="crawl_log"),
    path("crawls/start/", views.crawl_new, name="crawl_new"),
    path("crawls/add/", views.newspaper_add, name="newspaper_add"),
    path("crawls/trials/<int:trial_id>/", views.trial, name="trial"),
    path("crawls/<int:newspaper_id>/try/", views.newspaper_try, name="newspaper_try"),
    path("crawls/<int:newspaper_id>/", views.newspaper_crawls, name="newspaper_crawls"),
    path("crawls/<int:newspaper_id>/schedule/", views.crawl_schedule, name="crawl_schedule"),
    path("crawls/<int:newspaper_id>/take-back/", views.crawl_take_back, name="crawl_take_back"),
]
