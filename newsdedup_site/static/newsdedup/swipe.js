// On a touch screen: a swipe to the right over the texts answers as the button of "confirm" does, one to the left as
// that of "reject". The label at the edge says what letting go will do. Scrolling and selecting text never answer.

const ACTIONS = { 1: "confirm", "-1": "reject" };
const THRESHOLD = 110; // pixels to the side
const DIRECTION = 14; // pixels after which it is a swipe or a scroll
const QUICK = 400; // milliseconds before the first movement; longer is a press that selects text
const EDGE = 28; // pixels at the sides of the screen, where browsers go back and forward
const AREA = ".versus, .card-text";

let swipe = null;
const label = document.createElement("div");
label.className = "swipe-label";
label.setAttribute("aria-hidden", "true");
document.body.append(label);

function buttonFor(side) {
  return document.querySelector(`form[data-answer] [data-action="${ACTIONS[side]}"]`);
}

function scrollsSideways(element) {
  for (let each = element; each && each !== document.body; each = each.parentElement) {
    if (each.scrollWidth > each.clientWidth && ["auto", "scroll"].includes(getComputedStyle(each).overflowX)) return true;
  }
  return false;
}

function onStart(event) {
  end();
  const [touch] = event.touches;
  const area = event.target.closest(AREA);
  if (!area || event.touches.length > 1 || !getSelection().isCollapsed || scrollsSideways(event.target)) return;
  if (touch.clientX < EDGE || touch.clientX > innerWidth - EDGE || !buttonFor(1)) return;
  swipe = { area, x: touch.clientX, y: touch.clientY, began: event.timeStamp, moving: false };
}

function onMove(event) {
  if (!swipe) return;
  const [touch] = event.touches;
  const [aside, down] = [touch.clientX - swipe.x, touch.clientY - swipe.y];
  if (!swipe.moving) {
    if (Math.hypot(aside, down) < DIRECTION) return;
    const slow = event.timeStamp - swipe.began > QUICK;
    if (slow || event.touches.length > 1 || Math.abs(down) * 2 > Math.abs(aside) || !getSelection().isCollapsed) return end();
    swipe.moving = true;
  }
  // The browser scrolls already, and cannot be stopped.
  if (!event.cancelable) return end();
  event.preventDefault();
  swipe.aside = aside;
  draw(aside);
}

function draw(aside) {
  const side = Math.sign(aside) || 1;
  swipe.area.style.transform = `translateX(${Math.round(aside * 0.6)}px)`;
  label.textContent = buttonFor(side).firstChild.textContent.trim();
  label.dataset.side = side > 0 ? "right" : "left";
  label.classList.toggle("swipe-sure", Math.abs(aside) >= THRESHOLD);
}

function onEnd() {
  const aside = swipe?.moving ? swipe.aside : 0;
  end();
  if (Math.abs(aside) >= THRESHOLD) buttonFor(Math.sign(aside))?.click();
}

function end() {
  if (swipe) swipe.area.style.transform = "";
  swipe = null;
  label.textContent = "";
  label.classList.remove("swipe-sure");
}

document.addEventListener("touchstart", onStart, { passive: true });
document.addEventListener("touchmove", onMove, { passive: false });
document.addEventListener("touchend", onEnd);
document.addEventListener("touchcancel", end);
