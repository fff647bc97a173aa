"""Take the pictures of docs/pictures from the demo: script/take-pictures fills a database of its own and runs this.

Each picture is what a browser of 1280x800 shows of a page, in the light scheme.
"""

import base64
import os
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import django
import numpy as np

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    # Playwright's synchronous API runs an event loop in this thread, in which Django refuses its own calls.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    django.setup()

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.db.models import Count
from django.test import Client
from django.test.testcases import LiveServerThread
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from dedup.models import Cluster, DetectionRun, Profile

FOLDER: Path = settings.BASE_DIR / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
ARGUMENTS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
# Reads the pixels of a PNG, four bytes each, as base64.
_PIXELS = """async png => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, image.width, image.height).data;
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(text);
}"""

Act = Callable[[Page], None]


@dataclass(frozen=True)
class Picture:
    """A picture: its name, the role that sees the page, the page's address, and what is done there first."""

    name: str
    role: str
    address: str
    act: Act = lambda _page: None


def pictures() -> Iterator[Picture]:
    """Yield the pictures in an order in which none spoils the next: the batch decides."""
    proposed = Cluster.objects.filter(state="proposed").annotate(
        newspapers=Count("memberships__article__newspaper", distinct=True),
        texts=Count("memberships__article__content", distinct=True),
    )
    cluster = proposed.order_by("-newspapers", "-texts", "-size", "pk").first()
    if cluster is None:
        raise SystemExit("There are no clusters: run script/take-pictures, which fills a database with the demo first.")
    yield Picture("queue", "editor", "/queue/")
    yield Picture("pair", "editor", "/queue/next/?tab=informative")
    yield Picture("card", "editor", f"/clusters/{cluster.pk}/card/?tab=clusters")
    yield Picture("cluster", "editor", f"/clusters/{cluster.pk}/")
    yield Picture("graph", "editor", f"/clusters/{cluster.pk}/", scroll_to("#ties-title"))
    yield Picture("disagreements", "editor", "/disagreements/")
    profile = f"/profiles/{Profile.objects.get(is_default=True).pk}/"
    yield Picture("profile", "admin", profile, scroll_to("details:has(> #trigram)"))
    yield Picture("run", "admin", f"/runs/{DetectionRun.objects.latest('pk').pk}/")
    yield Picture("batch", "editor", "/batches/new/?tab=certain", answer_sample)


def scroll_to(selector: str) -> Act:
    """Return what brings a part of a page to the top of the picture, and unfolds what is around it."""
    unfold = "part.closest('details')?.setAttribute('open', '')"
    script = f"part => {{ {unfold}; part.scrollIntoView({{behavior: 'instant'}}) }}"
    return lambda page: page.locator(selector).evaluate(script)


def answer_sample(page: Page) -> None:
    """Begin a batch, answer its sample, and end on its page."""
    page.locator("[name=sample]").first.check()
    page.get_by_role("button", name="Draw the sample").click()
    batch = page.url
    page.get_by_role("link", name="Answer the sample").click()
    while page.url != batch:
        page.locator("button.decide-confirm").click()


@contextmanager
def site() -> Iterator[str]:
    """Serve the pages of the current database, and yield their address."""
    server = LiveServerThread("127.0.0.1", StaticFilesHandler)
    server.start()
    server.is_ready.wait()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.terminate()


def window_of(role: str, browser: Browser, address: str) -> BrowserContext:
    """Return a window in which somebody with this role is logged in."""
    user, _ = User.objects.get_or_create(username={"editor": "anna", "admin": "boris"}[role])
    user.groups.set([Group.objects.get(name=role)])
    client = Client()
    client.force_login(user, "newsdedup_site.access.backend.RightsBackend")
    # Without JavaScript, so that a page is complete as soon as it is loaded.
    window = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, java_script_enabled=False)
    window.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": address}])
    return window


def compact(png: bytes, page: Page) -> bytes:
    """Return a picture with its 256 most frequent colours, and the others as the nearest of these: a third in size."""
    read = base64.b64decode(page.evaluate(_PIXELS, base64.b64encode(png).decode()))
    pixels = np.frombuffer(read, np.uint8).reshape(-1, 4)[:, :3].astype(np.int32)
    numbers, which, counts = np.unique(pixels @ np.array([65536, 256, 1]), return_inverse=True, return_counts=True)
    colours = np.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], axis=1)
    palette = colours[np.argsort(-counts, kind="stable")[:256]]
    nearest = ((colours[:, None] - palette[None]) ** 2).sum(axis=2).argmin(axis=1)
    rows = nearest[which].astype(np.uint8).reshape(HEIGHT, WIDTH)
    lines = np.pad(rows, ((0, 0), (1, 0))).tobytes()  # each line begins with 0: no filter
    # https://www.w3.org/TR/png-3/: 8 bits a pixel, colour type 3 (a palette)
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.astype(np.uint8).tobytes()),
    ]
    parts += [(b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )


def main() -> None:
    """Take all pictures."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with site() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        windows = {role: window_of(role, browser, address) for role in ("editor", "admin")}
        reader = browser.new_page()
        for picture in pictures():
            page = windows[picture.role].new_page()
            page.goto(address + picture.address)
            picture.act(page)
            png = compact(page.screenshot(), reader)
            (FOLDER / f"{picture.name}.png").write_bytes(png)
            print(f"{picture.name}.png: {len(png):,} bytes")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
