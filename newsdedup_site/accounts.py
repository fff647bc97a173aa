"""Logging in and out, and changing one's password: Django's views with the templates of this site."""

from django.contrib.auth import views as auth
from django.urls import path

urlpatterns = [
    path(
        "login/",
        auth.LoginView.as_view(template_name="accounts/login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    # The names of the files differ from Django's, which the admin pages use for themselves.
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
]
