// The finder: Ctrl+K opens it, the arrow keys go through what it found, and Enter opens the first.

const dialog = document.getElementById("finder");

function opens(event) {
  return (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k";
}

function onShortcut(event) {
  if (!dialog || !opens(event) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  dialog.showModal();
  dialog.querySelector("input").select();
}

function onKeyInside(event) {
  const form = event.target.closest(".finder");
  if (!form) return;
  const hits = [...form.querySelectorAll("a")];
  const place = hits.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    (hits[place + step] ?? form.querySelector("input")).focus();
  } else if (event.key === "Enter" && place < 0 && hits.length) {
    event.preventDefault();
    hits[0].click();
  }
}

document.addEventListener("keydown", onShortcut);
document.addEventListener("keydown", onKeyInside);
