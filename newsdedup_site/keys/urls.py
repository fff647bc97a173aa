"""The addresses of the pages about keys."""

from django.urls import path

from newsdedup_site.keys import views

urlpatterns = [
    path("keys/", views.keys, name="keys"),
    path("keys/switch/", views.keys_switch, name="keys_switch"),
]
