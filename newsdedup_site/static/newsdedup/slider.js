// The number that a slider chooses, next to it, while it is moved.

document.addEventListener("input", ({ target }) => {
  if (target.type !== "range") return;
  for (const shown of document.querySelectorAll("output")) {
    if (shown.htmlFor.contains(target.id)) shown.value = target.value;
  }
});
