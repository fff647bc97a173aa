"""What a user has: saved views of lists, and what programs act with: tokens, and webhooks with their last deliveries.

Admins also see the tokens and webhooks of others: they revoke, switch off or delete them, without their secrets.
"""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from articles.paging import page_of
from dedup.detection.runs.requests import is_worker_alive
from dedup.forms.base import TokenForm, WebhookForm
from dedup.integrations.tokens import TokenError, make_token, revoke_token
from dedup.integrations.webhooks import WebhookError, change_webhook, delete_webhook, make_webhook, send_test
from dedup.models import SavedView, Token, Webhook
from dedup.review.saved_views import NAME_CHARACTERS, SavedViewError, rename_view, save_view, view_query
from dedup.views.requests import EditorRequest, faults_of, refusals, say

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
        with faults_of(form, TokenError):
            token, text = make_token(request.user, **form.cleaned_data)
            return render(request, "tokens/token.html", {"token": token, "text": text})
    return _page(request, form, status=400)


@require_POST
def token_revoke(request: EditorRequest, token_id: int) -> HttpResponse:
    """Revoke a token of one's own, or as an admin anybody's."""
    token = get_object_or_404(_seen_by(request, Token), pk=token_id)
    done = f"The token {token} was revoked, and no longer works."
    say(request, revoke_token(token, by=request.user), done, f"The token {token} had been revoked before.")
    return redirect("tokens")


def webhooks(request: EditorRequest) -> HttpResponse:
    """List the webhooks of the user, and for admins those of others."""
    return _page(request, WebhookForm())


def webhook_new(request: EditorRequest) -> HttpResponse:
    """Make a webhook, and show its page with its secret."""
    if request.method != "POST":
        return redirect("webhooks")
    form = WebhookForm(request.POST)
    if form.is_valid():
        with faults_of(form, WebhookError):
            hook = make_webhook(request.user, **form.cleaned_data)
            messages.success(request, "The webhook is ready. Give its secret to the receiver.")
            return redirect("webhook", hook.pk)
    return _page(request, form, status=400)


@never_cache
def webhook(request: EditorRequest, webhook_id: int) -> HttpResponse:
    """Show a webhook with its last deliveries, and to its owner its secret."""
    hook = get_object_or_404(_seen_by(request, Webhook), pk=webhook_id)
    context = {
        "hook": hook,
        "is_own": hook.owner_id == request.user.pk,
        "deliveries": hook.deliveries.defer("body")[:50],
        "worker_alive": is_worker_alive(),
    }
    return render(request, "webhooks/webhook.html", context)


@require_POST
def webhook_switch(request: EditorRequest, webhook_id: int) -> HttpResponse:
    """Switch a webhook on or off: `active` is 1 or 0. Only its owner switches it on."""
    hook = get_object_or_404(_seen_by(request, Webhook), pk=webhook_id)
    active = request.POST.get("active") == "1"
    if active and hook.owner_id != request.user.pk:
        messages.error(request, "Only its owner can switch it on.")
    else:
        change_webhook(hook, by=request.user, active=active)
        done = "on; what it has missed is sent now" if active else "off; what happens meanwhile is not queued for it"
        messages.success(request, f"The webhook is switched {done}.")
    return redirect("webhook", hook.pk)


@require_POST
def webhook_test(request: EditorRequest, webhook_id: int) -> HttpResponse:
    """Queue a request without clusters."""
    hook = get_object_or_404(Webhook, pk=webhook_id, owner=request.user)
    send_test(hook)
    messages.success(request, "A test is queued. Reload this page to see what came back.")
    return redirect("webhook", hook.pk)


@require_POST
def webhook_delete(request: EditorRequest, webhook_id: int) -> HttpResponse:
    """Delete a webhook with what waits for it."""
    hook = get_object_or_404(_seen_by(request, Webhook), pk=webhook_id)
    delete_webhook(hook, by=request.user)
    messages.success(request, "The webhook was deleted.")
    return redirect("webhooks")


def _seen_by(request: EditorRequest, model: Any) -> QuerySet[Any]:
    owned = {} if request.user.has_perm(MANAGES) else {"owner": request.user}
    return model.objects.select_related("owner").filter(**owned)


def _page(request: EditorRequest, form: TokenForm | WebhookForm, *, status: int = 200) -> HttpResponse:
    """Show the form with the user's own tokens or webhooks, and to admins those of others."""
    model, name, most = (Token, "tokens", 100) if isinstance(form, TokenForm) else (Webhook, "webhooks", None)
    rows = model.objects.select_related("owner")
    context: dict[str, Any] = {"form": form, "own": rows.filter(owner=request.user)[:most]}
    if request.user.has_perm(MANAGES):
        context["page"] = page_of(rows.exclude(owner=request.user), request.GET.get("page"))
    return render(request, f"{name}/{name}.html", context, status=status)


def saved_views(request: EditorRequest) -> HttpResponse:
    """List the user's own views, by page."""
    rows = SavedView.objects.filter(user=request.user)
    return render(request, "saved_views/saved_views.html", {"views": rows, "name_length": NAME_CHARACTERS})


@require_POST
def view_save(request: EditorRequest, page: str) -> HttpResponse:
    """Save the list that the form was on, and return to it. Raises Http404."""
    if page not in SavedView.Page.values:
        raise Http404(f"There is no list {page!r}.")
    query = request.POST.get("query", "")
    with refusals(request, SavedViewError):
        saved = save_view(request.user, page, request.POST.get("name", ""), query)
        messages.success(request, f"Saved as “{saved.name}”.")
    kept = view_query(query)
    return redirect(reverse(page) + (f"?{kept}" if kept else ""))


@require_POST
def view_rename(request: EditorRequest, view_id: int) -> HttpResponse:
    """Give one of the user's views another name."""
    view = get_object_or_404(SavedView, pk=view_id, user=request.user)
    with refusals(request, SavedViewError):
        rename_view(view, request.POST.get("name", ""))
        messages.success(request, "Renamed.")
    return redirect("saved_views")


@require_POST
def view_delete(request: EditorRequest, view_id: int) -> HttpResponse:
    """Delete one of the user's views."""
    view = get_object_or_404(SavedView, pk=view_id, user=request.user)
    view.delete()
    messages.success(request, f"“{view.name}” was deleted.")
    return redirect("saved_views")
