// "More" of the menu closes with Esc, and with a click or a focus elsewhere. Without JavaScript a click on it closes it.

const more = document.querySelector(".more");

function onElsewhere(event) {
  if (!more.contains(event.target)) more.open = false;
}

function onKey(event) {
  if (event.key !== "Escape" || !more.open) return;
  more.open = false;
  more.querySelector("summary").focus();
}

if (more) {
  document.addEventListener("click", onElsewhere);
  document.addEventListener("focusin", onElsewhere);
  document.addEventListener("keydown", onKey);
}
