// One sentence at the bottom of the screen, which screen readers say; it goes after a few seconds.

const SHOWN_FOR = 5000; // milliseconds
const line = document.createElement("div");
line.className = "status-line";
line.setAttribute("role", "status");
document.body.append(line);
let timer;

export function say(sentence) {
  line.textContent = sentence;
  clearTimeout(timer);
  timer = setTimeout(() => (line.textContent = ""), SHOWN_FOR);
}
