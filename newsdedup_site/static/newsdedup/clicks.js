// The second click of a double click would hit the next page, or the next question: it sends nothing. Keys are not
// concerned: nobody presses one twice by accident, and a key that is held down repeats with a mark.

import { say } from "./status.js";

// In milliseconds.
const DOUBLE_CLICK = 500;
// data-state is "settling", then "ready", and "sent" once a form that leaves the page has been sent.
const page = document.documentElement.dataset;
let settling;

export function settle(time = DOUBLE_CLICK) {
  page.state = "settling";
  clearTimeout(settling);
  settling = setTimeout(() => (page.state = "ready"), time);
}

function onClick(event) {
  const button = event.target.closest("form[method=post] button");
  // A click that a key or a script made has no detail.
  if (!button || event.detail === 0 || page.state === "ready") return;
  event.preventDefault();
  if (page.state === "settling" && event.detail === 1) say("That click came too soon after the last one. Click again.");
}

// No second form while waiting for the answer to the first.
function onSubmit(event) {
  if (event.defaultPrevented || event.target.method !== "post") return;
  if (page.state === "sent") event.preventDefault();
  else page.state = "sent";
}

document.addEventListener("click", onClick, true);
// After the modules that send a form in the background.
window.addEventListener("submit", onSubmit);
// Also when the browser restores a page from its cache.
window.addEventListener("pageshow", () => settle(document.querySelector("form[data-at-once]") ? 0 : DOUBLE_CLICK));
