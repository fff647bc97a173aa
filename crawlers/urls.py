"""The URLs of the pages about crawls."""

from django.urls import path

from crawlers import views

urlpatterns = [
    path("crawls/", views.crawls, name="crawls"),
    path("crawls/<int:newspaper_id>/", views.newspaper_crawls, name="newspaper_crawls"),
]
