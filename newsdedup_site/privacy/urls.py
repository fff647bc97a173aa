"""The addresses of the pages about removing and withholding."""

from django.urls import path

from newsdedup_site.privacy import views

urlpatterns = [
    path("removals/", views.removals, name="removals"),
    path("removals/<int:removal_id>/continue/", views.removal_continue, name="removal_continue"),
    path("removals/<int:removal_id>/lift/", views.removal_lift, name="removal_lift"),
    path("newspapers/<int:newspaper_id>/remove/", views.newspaper_remove, name="newspaper_remove"),
    path("newspapers/<int:newspaper_id>/pages/", views.newspaper_pages, name="newspaper_pages"),
    path("articles/<int:article_id>/remove/", views.article_remove, name="article_remove"),
    path("articles/<int:article_id>/withhold/", views.article_withhold, name="article_withhold"),
    path("articles/<int:article_id>/release/", views.article_release, name="article_release"),
]
