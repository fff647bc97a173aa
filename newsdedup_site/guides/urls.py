"""The addresses of the documentation."""

from django.urls import path

from newsdedup_site.guides import views

urlpatterns = [
    path("help/", views.help_page, name="help"),
    path("help/<slug:name>/", views.help_page, name="help_page"),
]
