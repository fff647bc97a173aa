"""Every form of the site, as pages show it: which buttons send one, and what somebody does who changes one field."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin

from lxml import html
from playwright.sync_api import ElementHandle, Page

from tests.addresses import name_of

# What is typed where any text will do.
MARKER = "kestrel-4711"
PLAIN = ("hidden", "submit", "button", "reset", "fieldset", "output", "image")

# The buttons of a page that send a form, as `buttons_of` counts them.
_FIND = """place => [...document.querySelectorAll("button, input")].filter(
    button => button.type === "submit" && button.form && button.form.getAttribute("method") !== "dialog"
)[place]"""
_FIELDS = """button => [...button.form.elements].map((field, place) => ({
    place, name: field.name, type: field.type, value: field.value, checked: field.checked, required: field.required,
    min: field.min ?? "", max: field.max ?? "", length: field.maxLength ?? -1,
    usable: !field.disabled && !field.readOnly
        && (field.checkVisibility() || Boolean(field.closest("details:not([open])"))),
    options: [...(field.options ?? [])].map(option => option.value),
    alike: [...button.form.elements].filter(other => other.name === field.name && other.checked).length,
    bold: button.form.querySelector("strong")?.innerText ?? "",
}))"""
# Every bound of a number and of a slider that the browser itself refuses there.
_REFUSED_BOUNDS = """button => {
    const numbers = [...button.form.elements].filter(field => ["number", "range"].includes(field.type));
    return numbers.flatMap(field => {
        const before = field.value;
        const refused = [field.min, field.max].filter(Boolean).filter(bound => {
            field.value = bound;
            return !field.checkValidity() || Number(field.value) !== Number(bound);
        });
        field.value = before;
        return refused.map(bound => `${field.name}: ${bound}`);
    });
}"""
_INVALID = "button => [...button.form.elements].filter(field => !field.validity.valid).map(field => field.name)"


@dataclass(frozen=True)
class Button:
    """A button that sends a form: its place among those of its page, where it sends what, and what it says."""

    place: int
    method: str
    target: str
    fields: tuple[str, ...]
    sends: str
    words: str

    def __str__(self) -> str:
        return f"“{self.words}” ({self.method} {self.target})"


@dataclass
class Field:
    """A field of a form as the browser shows it."""

    place: int
    name: str
    type: str
    value: str
    checked: bool | None
    required: bool
    min: str
    max: str
    length: int
    usable: bool
    options: list[str]
    alike: int  # how many of its name are ticked
    bold: str  # what is printed in bold in the form


def buttons_of(page: str, url: str) -> Iterator[Button]:
    """Yield the buttons of a page that can be pressed and send a form."""
    tree = html.document_fromstring(page)
    forms = {form.get("id"): form for form in tree.iter("form")}
    place = -1
    for button in tree.iter("button", "input"):
        form = forms.get(button.get("form")) if button.get("form") else next(button.iterancestors("form"), None)
        kind = button.get("type", "submit" if button.tag == "button" else "text")
        if kind != "submit" or form is None or form.get("method") == "dialog":
            continue
        place += 1
        if button.get("disabled") is not None:
            continue
        shown = (field for field in form.iter("input", "select", "textarea") if field.get("type") not in PLAIN)
        target = name_of(urljoin(url, button.get("formaction") or form.get("action") or ""))
        sends = f"{button.get('name', '')}={button.get('value', '')}" if button.get("name") else ""
        words = " ".join(button.text_content().split()) or button.get("value", "")
        fields = tuple(sorted({field.get("name", "") for field in shown}))
        yield Button(place, form.get("method", "get").lower(), target, fields, sends, words)


def find(page: Page, button: Button) -> ElementHandle:
    """Return a button of the page on the screen."""
    found = page.evaluate_handle(_FIND, button.place).as_element()
    if found is None:
        raise LookupError(f"{page.url} has no button {button}")
    return found


def fields_of(button: ElementHandle) -> list[Field]:
    return [Field(**values) for values in button.evaluate(_FIELDS)]


def refused_bounds(button: ElementHandle) -> list[str]:
    return list(button.evaluate(_REFUSED_BOUNDS))


def invalid_fields(button: ElementHandle) -> list[str]:
    return list(button.evaluate(_INVALID))


def unfold(part: ElementHandle) -> None:
    """Open what is folded around a part of a page, with the keyboard; a dialog, as its key does."""
    part.evaluate("part => part.closest('dialog:not([open])')?.showModal()")
    while fold := part.evaluate_handle("part => part.parentElement.closest('details:not([open])')").as_element():
        outer = fold.evaluate_handle("fold => fold.parentElement.closest('details:not([open])') ?? fold").as_element()
        summary = (outer or fold).query_selector("summary")
        assert summary is not None
        summary.press("Enter")


def other_value(field: Field, taken: set[str]) -> str | None:
    """Return another value that this field may have, if possible none of those taken; None if there is none."""
    if field.type.startswith("select"):
        others = [option for option in field.options if option not in ("", field.value)]
        return next((option for option in others if option not in taken), others[0] if others else None)
    if field.type in ("number", "range"):
        return _other_number(field)
    if field.name == "confirm" and field.bold:
        return field.bold
    usual = {"date": "2026-03-05", "time": "04:35", "email": "kestrel@paper.example", "file": "kestrel.csv"}
    if field.type == "url" or field.name == "url":
        return "https://paper.example/kestrel"
    return usual.get(field.type, MARKER[: field.length] if field.length > 0 else MARKER)


def _other_number(field: Field) -> str:
    """Return the number next to the one shown that is within the bounds; in a small range, one in the middle."""
    least, most = float(field.min or 0), float(field.max or 1_000_000)
    if most - least <= 1:
        return f"{(least + most) / 2 + 0.0125:.12g}"
    now = float(field.value or least)
    return f"{now + 1 if now + 1 <= most else now - 1:.12g}"
