"""The URLs: the pages at the root, the admin at /admin/, the load balancer's check at /healthz,
the figures for monitoring at /metrics.

Who may open them: newsdedup_site/access/addresses.py.
"""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.templatetags.static import static
from django.urls import include, path, reverse_lazy
from django.utils.functional import lazy
from django.views.generic import RedirectView

from newsdedup_site import finder, guides, keys
from newsdedup_site.alarms.views import alarms
from newsdedup_site.metrics import metrics
from newsdedup_site.people import views as people
from newsdedup_site.privacy import views as privacy
from newsdedup_site.unavailable import healthz

admin.autodiscover()
admin.site.site_header = admin.site.site_title = admin.site.index_title = "Users and tasks"

handler500 = "newsdedup_site.unavailable.server_error"

urlpatterns = [
    # Where Django's admin had the newspapers; for the links of the first release.
    path(
        "admin/articles/newspaper/<int:newspaper_id>/change/",
        RedirectView.as_view(pattern_name="newspaper_settings"),
        name="old_newspaper",
    ),
    path("admin/articles/<path:page>", RedirectView.as_view(url=reverse_lazy("crawls")), name="old_newspapers"),
    path("admin/", admin.site.urls),
    # A browser asks here if a page names no icon, as on the admin's pages.
    path("favicon.ico", RedirectView.as_view(url=lazy(static, str)("newsdedup/icon.svg")), name="favicon"),
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    # Django's views with this site's templates.
    path(
        "login/",
        auth.LoginView.as_view(template_name="accounts/login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    # The template names differ from Django's, which the admin uses.
    path(
        "password/",
        auth.PasswordChangeView.as_view(template_name="accounts/change_password.html"),
        name="password_change",
    ),
    path(
        "password/done/",
        auth.PasswordChangeDoneView.as_view(template_name="accounts/changed_password.html"),
        name="password_change_done",
    ),
    path("alarms/", alarms, name="alarms"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.person_invite, name="person_invite"),
    path("people/changes/", people.people_changes, name="people_changes"),
    path("people/unlock/", people.unlock, name="unlock"),
    path("people/<int:person_id>/", people.person, name="person"),
    path("people/<int:person_id>/change/", people.person_change, name="person_change"),
    path("people/<int:person_id>/link/", people.person_link, name="person_link"),
    path("people/<int:person_id>/block/", people.person_block, name="person_block"),
    path("people/<int:person_id>/unblock/", people.person_unblock, name="person_unblock"),
    path("set-password/<uidb64>/<token>/", people.SetPassword.as_view(), name="set_password"),
    path("find/", finder.find, name="find"),
    path("keys/", keys.keys, name="keys"),
    path("keys/switch/", keys.keys_switch, name="keys_switch"),
    path("removals/", privacy.removals, name="removals"),
    path("removals/<int:removal_id>/continue/", privacy.removal_continue, name="removal_continue"),
    path("removals/<int:removal_id>/lift/", privacy.removal_lift, name="removal_lift"),
    path("newspapers/<int:newspaper_id>/remove/", privacy.newspaper_remove, name="newspaper_remove"),
    path("newspapers/<int:newspaper_id>/pages/", privacy.newspaper_pages, name="newspaper_pages"),
    path("articles/<int:article_id>/remove/", privacy.article_remove, name="article_remove"),
    path("articles/<int:article_id>/withhold/", privacy.article_withhold, name="article_withhold"),
    path("articles/<int:article_id>/release/", privacy.article_release, name="article_release"),
    path("help/", guides.help_page, name="help"),
    path("help/<slug:name>/", guides.help_page, name="help_page"),
    path("", include("crawlers.urls")),
    path("", include("dedup.urls")),
]
