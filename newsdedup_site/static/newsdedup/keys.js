// Keys for reviewing. An element with data-key="y" is clicked, or focused if it is a field, when y is
// pressed. They can be switched off (WCAG 2.1.4), which is remembered in this browser.

const STORED = "newsdedup.keys";
// Whoever clicks twice hits the next page with the second click: so long a page takes no decision, in milliseconds.
const SETTLING = 500;
// "settling", then "ready", and "sent" once a form is on its way.
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
  // A key held down must not decide on one pair after the other.
  if (withModifier || event.repeat || isTyping(event.target) || !keysAreOn() || page.state === "sent") return;
  // In a table that is wider than the screen, arrows scroll.
  if (event.key.startsWith("Arrow") && event.target.closest(".table-wrap")) return;
  const element = elementFor(event.key);
  if (!element) return;
  event.preventDefault();
  if (isTyping(element)) element.focus();
  else element.click();
}

// Only what the editor has seen is decided, and only once: no form is sent before the page has settled, nor a second
// one while the answer is on its way.
function onSubmit(event) {
  if (event.target.method !== "post") return;
  if (page.state === "ready") page.state = "sent";
  else event.preventDefault();
}

// Also when the browser brings a page back from its memory.
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
