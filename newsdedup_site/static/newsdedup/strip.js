// The strip of the last answers: what is still on its way comes first, then what the server says.

const onTheirWay = [];

function entry(question) {
  const item = document.createElement("li");
  item.className = "strip-answer strip-sending";
  const word = document.createElement("b");
  word.textContent = question.answer;
  const headline = document.createElement("span");
  headline.textContent = question.main.querySelector(".side-headline")?.textContent.trim() ?? question.title;
  headline.dir = "auto";
  item.append(word, " ", headline);
  return item;
}

function draw(strip) {
  strip.querySelectorAll(".strip-sending").forEach((item) => item.remove());
  strip.querySelector(".strip-answers").prepend(...onTheirWay.map(entry).reverse());
  // There will be something to undo as soon as it has arrived.
  if (onTheirWay.length) strip.querySelector("[data-undo=last] button").disabled = false;
}

export function showSending(question) {
  onTheirWay.push(question);
  const strip = document.getElementById("strip");
  if (strip) draw(strip);
}

export function forget(question) {
  const place = onTheirWay.indexOf(question);
  if (place >= 0) onTheirWay.splice(place, 1);
  const strip = document.getElementById("strip");
  if (strip) draw(strip);
}

// The strip of a page that was fetched ahead is out of date: it changes places with the one on the screen.
export function carryStrip(from, to) {
  const [shown, other] = [from, to].map((main) => main.querySelector("#strip"));
  if (!shown || !other) return;
  const place = document.createComment("");
  shown.replaceWith(place);
  other.replaceWith(shown);
  place.replaceWith(other);
}

export function replaceStrip(strip) {
  document.getElementById("strip")?.replaceWith(strip);
  draw(strip);
}
