"""The URL of the page of alarms."""

from django.urls import path

from newsdedup_site.alarms import views

urlpatterns = [path("alarms/", views.alarms, name="alarms")]
