"""The tokens of a user: a page of them, and making and revoking one. Admins revoke everybody's."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from articles.paging import page_of
from dedup.forms.base import TokenForm
from dedup.integrations.tokens import TokenError, make_token, revoke_token
from dedup.models import Token
from dedup.views.requests import EditorRequest

# Who may block somebody may also revoke their tokens.
MANAGES = "auth.change_user"


def tokens(request: EditorRequest) -> HttpResponse:
    """List the tokens of the user, and for admins those of others."""
    return _page(request, TokenForm(None, user=request.user))


@never_cache
def token_new(request: EditorRequest) -> HttpResponse:
    """Make a token, and show it this once."""
    if request.method != "POST":
        return redirect("tokens")
    form = TokenForm(request.POST, user=request.user)
    if form.is_valid():
        values = form.cleaned_data
        try:
            token, text = make_token(request.user, values["name"], values["scopes"], days=values["days"])
        except TokenError as error:
            form.add_error(None, str(error))
        else:
            return render(request, "tokens/token.html", {"token": token, "text": text})
    return _page(request, form, status=400)


@require_POST
def token_revoke(request: EditorRequest, token_id: int) -> HttpResponse:
    """Revoke a token of one's own, or as an admin anybody's."""
    owned = {} if request.user.has_perm(MANAGES) else {"owner": request.user}
    token = get_object_or_404(Token.objects.select_related("owner"), pk=token_id, **owned)
    if revoke_token(token, by=request.user):
        messages.success(request, f"The token {token} was revoked, and no longer works.")
    else:
        messages.warning(request, f"The token {token} had been revoked before.")
    return redirect("tokens")


def _page(request: EditorRequest, form: TokenForm, *, status: int = 200) -> HttpResponse:
    rows = Token.objects.select_related("owner")
    context = {"form": form, "own": rows.filter(owner=request.user)[:100]}
    if request.user.has_perm(MANAGES):
        context["page"] = page_of(rows.exclude(owner=request.user), request.GET.get("page"))
    return render(request, "tokens/tokens.html", context, status=status)
