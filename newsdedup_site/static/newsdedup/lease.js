// While a question is on the screen, its lease is renewed, so that other editors are not sent to it; and the page says
// who else is reading it. Without this script, a lease ends after two minutes.

import { posting } from "./question_pages.js";

const EVERY = 60000; // milliseconds
// A question that was fetched ahead may have waited for some of its two minutes.
const FIRST = 20000;
let timer;

async function renew() {
  const form = document.querySelector("main form[data-lease]");
  if (!form || document.hidden) return;
  try {
    const response = await fetch(form.action, posting(new URLSearchParams(new FormData(form))));
    if (response.ok && form.isConnected) show((await response.json()).reader);
  } catch {
    // The site cannot be reached: the next answer says so.
  }
}

function show(reader) {
  const box = document.querySelector("main [data-reader]");
  if (box.hidden === !reader) return;
  box.querySelector("[data-reader-name]").textContent = reader;
  box.hidden = !reader;
}

function start(first) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    await renew();
    start(EVERY);
  }, first);
}

start(EVERY);
document.addEventListener("newsdedup:question", () => start(FIRST));
document.addEventListener("visibilitychange", () => document.hidden || start(0));
