// Keyboard shortcuts. Pressing y clicks the element with data-key="y", or focuses it if it is a field.
// They can be switched off (WCAG 2.1.4); the browser remembers that.

const STORED = "newsdedup.keys";
// The second click of a double click hits the next page: for this long, in milliseconds, a page sends no decision.
const SETTLING = 500;
// data-state is "settling", then "ready", and "sent" once a form has been sent.
const page = document.documentElement.dataset;
let settling;

function keysAreOn() {
  return localStorage.getItem(STORED) !== "off";
}

function isTyping(element) {
  return element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);
}

function elementFor(key) {
  return [...document.querySelectorAll("[data-key]")].find((element) => element.dataset.key.split(" ").includes(key));
}

function onKey(event) {
  if (event.key === "Escape" && isTyping(event.target)) {
    event.target.blur();
    return;
  }
  const withModifier = event.ctrlKey || event.altKey || event.metaKey;
  // A key held down must not decide several pairs in a row.
  if (withModifier || event.repeat || isTyping(event.target) || !keysAreOn() || page.state === "sent") return;
  // In a table that is wider than the screen, the arrow keys scroll.
  if (event.key.startsWith("Arrow") && event.target.closest(".table-wrap")) return;
  const element = elementFor(event.key);
  if (!element) return;
  event.preventDefault();
  if (isTyping(element)) element.focus();
  else element.click();
}

// The editor decides only what was seen, and only once: no form is sent before the page has settled, and no second
// form while waiting for the answer.
function onSubmit(event) {
  if (event.target.method !== "post") return;
  if (page.state === "ready") page.state = "sent";
  else event.preventDefault();
}

// Also when the browser restores a page from its cache.
function onShow() {
  page.state = "settling";
  clearTimeout(settling);
  settling = setTimeout(() => (page.state = "ready"), document.querySelector("form[data-at-once]") ? 0 : SETTLING);
}

function showSwitch(button) {
  button.hidden = false;
  button.setAttribute("aria-pressed", String(keysAreOn()));
  document.documentElement.classList.toggle("keys-off", !keysAreOn());
}

for (const button of document.querySelectorAll("[data-keys-switch]")) {
  showSwitch(button);
  button.addEventListener("click", () => {
    localStorage.setItem(STORED, keysAreOn() ? "off" : "on");
    showSwitch(button);
  });
}
document.addEventListener("keydown", onKey);
document.addEventListener("submit", onSubmit);
window.addEventListener("pageshow", onShow);
