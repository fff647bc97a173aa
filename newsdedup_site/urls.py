"""The addresses: the desk at the root, the admin at /admin/, the check for a load balancer at /healthz."""

from django.contrib import admin
from django.urls import include, path

admin.site.site_header = admin.site.site_title = "newsdedup settings"
admin.site.index_title = "Newspapers, profiles, people"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("dedup.urls")),
]
