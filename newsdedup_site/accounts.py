"""Logging in and out, and changing the password: Django's views with this site's templates."""

from django.contrib.auth import views as auth
from django.urls import path

urlpatterns = [
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
]
