// A field that the browser refuses is shown: what is folded around it opens, or its form would refuse without a word.

function onInvalid({ target }) {
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

// The event does not bubble.
document.addEventListener("invalid", onInvalid, true);
// Without this script the browser must not check such a form: the server does, and unfolds what it refuses.
for (const form of document.querySelectorAll("form[novalidate]")) form.noValidate = false;
