"""The URLs: the pages at the root, the admin at /admin/, the load balancer's check at /healthz,
the figures for monitoring at /metrics.

Who may open them: newsdedup_site/access/addresses.py.
"""

from django.contrib import admin
from django.urls import include, path

from newsdedup_site import views
from newsdedup_site.metrics.views import metrics

admin.autodiscover()
admin.site.site_header = admin.site.site_title = "newsdedup settings"
admin.site.index_title = "Newspapers, profiles and users"

handler500 = "newsdedup_site.unavailable.server_error"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("favicon.ico", views.favicon, name="favicon"),
    path("healthz", views.healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("", include("newsdedup_site.accounts")),
    path("", include("newsdedup_site.alarms.urls")),
    path("", include("newsdedup_site.people.urls")),
    path("", include("newsdedup_site.keys.urls")),
    path("", include("newsdedup_site.privacy.urls")),
    path("", include("newsdedup_site.guides.urls")),
    path("", include("crawlers.urls")),
    path("", include("dedup.urls")),
]
