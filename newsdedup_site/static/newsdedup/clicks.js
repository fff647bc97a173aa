// The second click of a double click would hit the next page, or the next question: it sends nothing. Keys are not
// concerned: nobody presses one twice by accident, and a key that is held down repeats with a mark.

import { say } from "./status.js";

// In milliseconds.
const DOUBLE_CLICK = 500;
// When this tab was last clicked, in milliseconds since 1970: the click may have led here from another page.
const CLICKED = "newsdedup.clicked";
// data-state is "settling" after a click, then "ready", and "sent" once a form that leaves the page has been sent.
const page = document.documentElement.dataset;
let settling;

function settle() {
  clearTimeout(settling);
  const since = Date.now() - Number(sessionStorage.getItem(CLICKED));
  // It is below 0 if the clock was put back.
  const settled = since < 0 || since >= DOUBLE_CLICK;
  page.state = settled ? "ready" : "settling";
  if (!settled) settling = setTimeout(settle, DOUBLE_CLICK - since);
}

function onClick(event) {
  // A click that a key or a script made has no detail.
  if (event.detail === 0) return;
  const button = event.target.closest("form[method=post] button");
  if (button && page.state !== "ready") {
    event.preventDefault();
    if (event.detail === 1) say("That click came too soon after the last one. Click again.");
    return;
  }
  sessionStorage.setItem(CLICKED, String(Date.now()));
  // The question changes without a new page.
  if (button?.form.matches("[data-answer], [data-undo]")) settle();
}

// No second form while waiting for the answer to the first.
function onSubmit(event) {
  if (event.defaultPrevented || event.target.method !== "post") return;
  if (page.state === "sent") event.preventDefault();
  else {
    clearTimeout(settling);
    page.state = "sent";
  }
}

document.addEventListener("click", onClick, true);
// After the modules that send a form in the background.
window.addEventListener("submit", onSubmit);
// Also when the browser restores a page from its cache.
window.addEventListener("pageshow", settle);
