// "Next difference", "next in both" and the ways back on the page of two articles. Without this module all are links to
// the first one.

const CURRENT = "current-difference";
// Differences whose tops are this close, in pixels, are on one line: side by side, they belong together.
const ONE_LINE = 8;

function placed(selector) {
  const marks = [...document.querySelectorAll(selector)].filter((mark) => mark.getClientRects().length);
  return marks.map((mark) => ({ mark, top: mark.getClientRects()[0].top })).sort((one, other) => one.top - other.top);
}

// The differences in the texts from top to bottom, those of one line together; a folded one is its summary.
function differences() {
  const found = [];
  for (const { mark, top } of placed(".texts :is(del, ins):not(.minor), .fold-changed:not([open]) > summary")) {
    const last = found.at(-1);
    if (last && top - last.top < ONE_LINE) last.marks.push(mark);
    else found.push({ top, marks: [mark] });
  }
  return found;
}

// The passages that both texts have: of neighbouring lines the first one.
function shared() {
  const first = placed(".texts > .in-both").filter(({ mark }) => !mark.previousElementSibling?.matches(".in-both"));
  return first.map(({ mark, top }) => ({ top, marks: [mark] }));
}

const ACTIONS = {
  next_difference: [differences, 1],
  previous_difference: [differences, -1],
  next_shared: [shared, 1],
  previous_shared: [shared, -1],
};

function show(stop) {
  for (const each of document.querySelectorAll(`.${CURRENT}`)) each.classList.remove(CURRENT);
  for (const each of stop.marks) each.classList.add(CURRENT);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  // A passage may be longer than the screen.
  const block = stop.marks[0].matches(".in-both") ? "start" : "center";
  stop.marks[0].scrollIntoView({ block, behavior: calm ? "auto" : "smooth" });
  // Enter opens what is folded.
  if (stop.marks[0].matches("summary")) stop.marks[0].focus({ preventScroll: true });
}

// After the last one comes the first one, and the other way round. From a stop of the other kind, the way goes on there.
function go(stops, step) {
  const all = stops();
  if (!all.length) return;
  const current = all.findIndex((stop) => stop.marks.some((mark) => mark.classList.contains(CURRENT)));
  const from = document.querySelector(`.${CURRENT}`)?.getClientRects()[0]?.top ?? (step > 0 ? -Infinity : Infinity);
  const near = step > 0 ? all.findIndex((stop) => stop.top > from) : all.findLastIndex((stop) => stop.top < from);
  const next = current < 0 ? near : current + step;
  show(all[next < 0 && current < 0 && step > 0 ? 0 : (next + all.length) % all.length]);
}

// On the document, so that it also works on a page that is put in place of this one.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-action]");
  const [stops, step] = (link && ACTIONS[link.dataset.action]) || [];
  if (!stops) return;
  event.preventDefault();
  go(stops, step);
});
