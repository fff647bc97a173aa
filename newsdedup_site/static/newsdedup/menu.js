// An open part of the menu closes with Esc, and with a click or a focus elsewhere. Without JavaScript, a click on it or on
// another one closes it.

const parts = document.querySelectorAll(".part");

function onElsewhere(event) {
  for (const part of parts) {
    if (!part.contains(event.target)) part.open = false;
  }
}

function onKey(event) {
  const open = event.key === "Escape" && document.querySelector(".part[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
}

document.addEventListener("click", onElsewhere);
document.addEventListener("focusin", onElsewhere);
document.addEventListener("keydown", onKey);
