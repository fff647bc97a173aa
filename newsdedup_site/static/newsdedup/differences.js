// "Next difference" and "previous difference" on the page of two articles. Without this module both are links to the
// first difference.

const ACTIONS = { next_difference: 1, previous_difference: -1 };
const CURRENT = "current-difference";
// Differences whose tops are this close, in pixels, are on one line: side by side, they belong together.
const ONE_LINE = 8;

// The differences in the texts from top to bottom, those of one line together.
function stops() {
  const marks = [...document.querySelectorAll(".texts del, .texts ins")].filter((mark) => mark.getClientRects().length);
  const placed = marks.map((mark) => ({ mark, top: mark.getClientRects()[0].top }));
  const found = [];
  for (const { mark, top } of placed.sort((one, other) => one.top - other.top)) {
    const last = found.at(-1);
    if (last && top - last.top < ONE_LINE) last.marks.push(mark);
    else found.push({ top, marks: [mark] });
  }
  return found;
}

function show(stop) {
  for (const each of document.querySelectorAll(`.${CURRENT}`)) each.classList.remove(CURRENT);
  for (const each of stop.marks) each.classList.add(CURRENT);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  stop.marks[0].scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
}

// After the last difference comes the first one, and the other way round.
function go(step) {
  const all = stops();
  if (!all.length) return;
  const current = all.findIndex((stop) => stop.marks.some((mark) => mark.classList.contains(CURRENT)));
  show(all[current < 0 ? (step > 0 ? 0 : all.length - 1) : (current + step + all.length) % all.length]);
}

// On the document, so that it also works on a page that is put in place of this one.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-action]");
  const step = link && ACTIONS[link.dataset.action];
  if (!step) return;
  event.preventDefault();
  go(step);
});
