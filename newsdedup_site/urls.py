"""The addresses: the desk at the root, the admin at /admin/, the check for a load balancer at /healthz."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("dedup.urls")),
]
