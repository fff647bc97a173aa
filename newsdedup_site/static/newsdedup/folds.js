// A field that the browser refuses is shown: what is folded around it opens, or its form would refuse without a word.

function onInvalid({ target }) {
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

// The event does not bubble.
document.addEventListener("invalid", onInvalid, true);
