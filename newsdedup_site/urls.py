"""The addresses: the desk at the root with the crawl's pages, the admin at /admin/, the load balancer's at /healthz."""

from django.contrib import admin
from django.urls import include, path

admin.site.site_header = admin.site.site_title = "newsdedup settings"
admin.site.index_title = "Newspapers, profiles, people"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("crawlers.urls")),
    path("", include("dedup.urls")),
]
