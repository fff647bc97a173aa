// Keyboard shortcuts: a key clicks the element whose data-key names it, or focuses it if it is a field. The server
// writes data-key from the user's own map; without it, an action has no key.

import { say } from "./status.js";

const page = document.documentElement.dataset;
// Why a key cannot be taken now, as a sentence; modules that make the page wait add theirs.
const reasons = [];
let refused = 0;

export function refuseKeys(reason) {
  reasons.push(reason);
}

// In a box that is ticked, nobody types.
function isTyping(element) {
  return element.isContentEditable || element.matches("textarea, select, input:not([type=checkbox], [type=radio])");
}

// The letter as it is printed on the key cap where the layout has other letters, and without Caps Lock.
function letterOf(event) {
  const code = /^Key([A-Z])$/.exec(event.code);
  if (code && /[^\x00-\x7F]/.test(event.key)) return event.shiftKey ? code[1] : code[1].toLowerCase();
  if (code && event.getModifierState("CapsLock")) return event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase();
  return event.key;
}

function elementFor(key) {
  const root = document.querySelector("dialog[open]") ?? document;
  const named = [...root.querySelectorAll("[data-key]")].filter((each) => each.dataset.key.split(" ").includes(key));
  return named.find((each) => !each.disabled) ?? named[0];
}

// A key that is not taken is never lost in silence.
function refuse(key, why) {
  refused += 1;
  page.refusedKeys = String(refused);
  say(`“${key}” was not counted: ${why}`);
}

function onKey(event) {
  if (event.key === "Escape" && isTyping(event.target)) {
    event.target.blur();
    return;
  }
  const withModifier = event.ctrlKey || event.altKey || event.metaKey;
  // A key held down must not decide several pairs in a row.
  if (withModifier || event.repeat || isTyping(event.target)) return;
  // In a table that is wider than the screen, the arrow keys scroll.
  if (event.key.startsWith("Arrow") && event.target.closest(".table-wrap")) return;
  const key = letterOf(event);
  const element = elementFor(key);
  if (!element) return;
  event.preventDefault();
  const why = reasons.map((reason) => reason(event, element)).find(Boolean) ?? (element.disabled ? element.title : "");
  if (why) refuse(key, why);
  else if (isTyping(element)) element.focus();
  else {
    element.click();
    // What it opens may be out of sight, or move the page.
    if (element.matches("summary")) requestAnimationFrame(() => element.scrollIntoView({ block: "nearest" }));
  }
}

refuseKeys(() => (page.state === "sent" ? "your last answer is still on its way." : ""));

// The link "Keys" opens the panel; the key that opens it also closes it.
function onClick(event) {
  const opener = event.target.closest("[data-opens]");
  if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  document.getElementById(opener.dataset.opens).showModal();
}

function onKeyInDialog(event) {
  const open = document.querySelector("dialog[open]");
  const opener = open && document.querySelector(`[data-opens="${open.id}"][data-key]`);
  if (!opener?.dataset.key.split(" ").includes(event.key) || isTyping(event.target)) return;
  event.preventDefault();
  open.close();
}

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) onKeyInDialog(event);
  else onKey(event);
});
document.addEventListener("click", onClick);
