"""The URLs of the pages about people."""

from django.urls import path

from newsdedup_site.people import views

urlpatterns = [
    path("people/", views.people, name="people"),
    path("people/invite/", views.person_invite, name="person_invite"),
    path("people/changes/", views.people_changes, name="people_changes"),
    path("people/unlock/", views.unlock, name="unlock"),
    path("people/<int:person_id>/", views.person, name="person"),
    path("people/<int:person_id>/change/", views.person_change, name="person_change"),
    path("people/<int:person_id>/link/", views.person_link, name="person_link"),
    path("people/<int:person_id>/block/", views.person_block, name="person_block"),
    path("people/<int:person_id>/unblock/", views.person_unblock, name="person_unblock"),
    path("set-password/<uidb64>/<token>/", views.SetPassword.as_view(), name="set_password"),
]
