// The review loop: the next questions are fetched ahead, an answer is sent in the background while the next question is
// shown, and a question whose answer was not stored comes back. Without this script the same forms load page by page.

import { refuseKeys } from "./keys.js";
import { addressAfter, fetchPage, posting, questionIn, skipped } from "./question_pages.js";
import { say } from "./status.js";
import { carryStrip, forget, replaceStrip, showSending } from "./strip.js";

const AHEAD = 2;
// After a question came back on its own, keys wait for so long (in milliseconds): they were meant for another one.
const LOOK_FIRST = 700;
const page = document.documentElement.dataset;

let current = questionIn(document, location.href);
const ahead = [];
const sending = [];
let atEnd = false;
let filling = false;
let undoing = 0;
let shownAt = 0; // when the question was on the screen, in the time of events; Infinity before
let lookUntil = 0;
let typingUntil = 0;
let sent = Promise.resolve();
let leaveFor = "";

// ---- what is on the screen ----

function place(question) {
  const old = document.querySelector("main");
  if (old !== question.main) {
    carryStrip(old, question.main);
    old.replaceWith(question.main);
    // For what a question loads only when it is asked for.
    window.htmx?.process(question.main);
  }
  startModules(question.main);
  document.title = question.title;
  current = question;
  delete page.loop;
  lookUntil = 0;
  awaitPaint();
  window.scrollTo(0, 0);
  question.main.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("newsdedup:question", { detail: { name: question.name } }));
}

// The browser does not run the scripts of a page that was fetched; a module runs once, however often it is named.
function startModules(main) {
  for (const { src } of main.querySelectorAll("script[type=module][src]")) {
    if (document.head.querySelector(`script[src="${CSS.escape(src)}"]`)) continue;
    const script = document.createElement("script");
    Object.assign(script, { type: "module", src });
    document.head.append(script);
  }
}

// data-question names the question that is on the screen, from the moment on which it can be seen.
function awaitPaint() {
  const { name } = current;
  shownAt = Infinity;
  delete page.question;
  // The callback runs before the frame is drawn, the timer after it.
  requestAnimationFrame(() =>
    setTimeout(() => {
      if (current.name !== name) return;
      shownAt = performance.now();
      page.question = name;
    }),
  );
}

function show(question) {
  place(question);
  if (question.url !== location.href) history.pushState(null, "", question.url);
  fill();
}

function showNext() {
  if (ahead.length) {
    const question = ahead.shift();
    // What was fetched ahead does not know of the answers since; what is on the screen does, or will soon.
    showLeft(document.querySelector("[data-left]"), question.main);
    show(question);
  } else {
    page.loop = "waiting";
    fill();
  }
}

// ---- the next questions ----

async function fill() {
  if (filling || atEnd || !current) return;
  filling = true;
  try {
    while (ahead.length < AHEAD && !atEnd) await fetchNext();
  } catch {
    // Loading the page itself says what is wrong.
    if (page.loop === "waiting") await leave(addressAfter([current], []) ?? location.href);
  } finally {
    filling = false;
  }
}

async function fetchNext() {
  const known = [current, ...ahead];
  const address = addressAfter(known, sending);
  const question = address && (await fetchPage(address)).question;
  if (!question || known.some((each) => each.name === question.name)) {
    atEnd = true;
    if (page.loop === "waiting") await leave(leaveFor || address || location.href);
    return;
  }
  ahead.push(question);
  if (page.loop === "waiting") showNext();
}

async function leave(address) {
  await sent;
  if (page.loop === "waiting") location.assign(leaveFor || address);
}

// What the last answer implies is not asked, although it has been fetched.
function dropSettled(names) {
  const left = ahead.filter((question) => !names.includes(question.name) || question.cameBack);
  if (left.length === ahead.length) return;
  ahead.splice(0, ahead.length, ...left);
  fill();
}

// ---- answers ----

function onSubmit(event) {
  const form = event.target;
  if (event.defaultPrevented || !current) return;
  if (form.matches("[data-undo]")) takeUndo(event, form);
  else if (form.matches("[data-answer]")) takeAnswer(event, form);
}

function takeAnswer(event, form) {
  if (page.loop === "waiting") return event.preventDefault();
  // The last question: the browser loads the page that says so, after the answers before it have arrived.
  if (atEnd && !ahead.length) {
    if (sending.length) {
      event.preventDefault();
      sent.then(() => (form.isConnected ? form.requestSubmit(event.submitter) : say("The last answer was not sent.")));
    }
    return;
  }
  event.preventDefault();
  const question = current;
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  const action = event.submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  question.answer = (event.submitter?.firstChild.textContent ?? "").trim();
  sending.push(question);
  showSending(question);
  showNext();
  sent = sent.then(() => send(question, action, fields));
}

async function send(question, action, fields) {
  let problem = "";
  try {
    fields.set("ahead", ahead.map((each) => each.name).join(","));
    const response = await fetch(action, posting(fields, { "X-Answer": "background" }));
    const answered = response.headers.get("X-Answer");
    const said = new DOMParser().parseFromString(await response.text(), "text/html");
    done(question);
    if (answered === "stored") return stored(said, response.headers);
    if (answered === "refused") return await comeBackFresh(question, said, fields.get("note"));
    problem = reasonOf(response);
  } catch {
    problem = "The site cannot be reached.";
  }
  done(question);
  comeBack(question, notice(`Your answer “${question.answer}” is not saved. ${problem} Answer again.`));
}

function reasonOf(response) {
  if (response.redirected && new URL(response.url).pathname.endsWith("/login/")) {
    return "You are logged out: log in in another tab of this browser.";
  }
  if (response.status === 503) return "The database is not available at the moment: wait a few seconds.";
  if (response.status === 403) return "This page has expired or you may not decide: reload it.";
  return `The site answered with error ${response.status}.`;
}

function done(question) {
  const place = sending.indexOf(question);
  if (place >= 0) sending.splice(place, 1);
  forget(question);
}

function stored(said, headers) {
  leaveFor = headers.get("X-Next");
  dropSettled((headers.get("X-Settled") ?? "").split(","));
  const strip = said.getElementById("strip");
  if (strip) replaceStrip(document.adoptNode(strip));
  showLeft(said.querySelector("[data-left]"), document);
  for (const each of said.querySelectorAll(".notice")) {
    if (each.matches(".notice-success, .notice-info:not(:has(a))")) saidInStrip(each.querySelector("span").textContent);
    else showNotice(document.adoptNode(each));
  }
}

function showLeft(known, where) {
  const shown = where.querySelector("[data-left]");
  if (known && shown) shown.replaceChildren(...[...known.childNodes].map((each) => each.cloneNode(true)));
}

function saidInStrip(sentence) {
  const line = document.createElement("span");
  line.className = "strip-said";
  line.setAttribute("role", "status");
  document.querySelector("#strip .strip-answers")?.before(line);
  line.textContent = sentence;
}

// ---- questions that come back ----

// The page as it is now, with what another editor decided meanwhile; the note is kept.
async function comeBackFresh(question, said, note) {
  const told = [...said.querySelectorAll(".notice")].map((each) => document.adoptNode(each));
  try {
    const fresh = (await fetchPage(question.url)).question;
    if (!fresh) throw new Error("no question");
    const field = fresh.main.querySelector("[name=note]");
    if (field && note) field.value = note;
    Object.assign(question, fresh);
  } catch {
    // The old page must do; it does not know what happened, but the message says it.
  }
  comeBack(question, ...told);
}

function comeBack(question, ...notices) {
  question.main.querySelectorAll(".came-back").forEach((each) => each.remove());
  for (const each of notices) each.classList.add("came-back");
  question.main.prepend(...notices);
  // Neither while another one is here that came back, nor while a note is being typed.
  if (page.loop !== "waiting" && (current.cameBack || document.activeElement?.matches("main [name=note]"))) {
    ahead.unshift(question);
    return say("An answer was not saved. Its question comes back after this one.");
  }
  question.cameBack = true;
  if (page.loop !== "waiting") ahead.unshift(current);
  show(question);
  lookUntil = performance.now() + LOOK_FIRST;
}

function notice(sentence) {
  const box = document.createElement("div");
  box.className = "notice notice-error";
  box.setAttribute("role", "alert");
  const text = document.createElement("span");
  text.textContent = sentence;
  box.append(text);
  return box;
}

function showNotice(box) {
  document.querySelector("#strip")?.before(box);
}

// ---- undo ----

// One after another, as often as the key was pressed: each takes back the latest answer that is then left.
function takeUndo(event, form) {
  event.preventDefault();
  undoing += 1;
  const last = form.dataset.undo === "last";
  sent = sent.then(() => undo(last ? document.querySelector("form[data-undo=last]") : form)).finally(() => (undoing -= 1));
}

async function undo(form) {
  if (!form?.getAttribute("action")) return say("No answer of the last eight hours is left to undo. Older ones are in the history.");
  try {
    const { response, question } = await fetchPage(form.action, posting(new URLSearchParams(new FormData(form))));
    if (!question) return location.assign(response.url);
    const strip = question.main.querySelector("#strip");
    if (strip) replaceStrip(strip.cloneNode(true));
    if (question.name !== current.name && page.loop !== "waiting") ahead.unshift(current);
    show(question);
  } catch {
    say("The undo did not arrive. Press the key again.");
  }
}

// ---- skipping, and the way back ----

function onClick(event) {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.matches("main a[rel=next]") && ahead.length && current) {
    event.preventDefault();
    skipped.add(current.name);
    showNext();
  } else if (sending.length && !link.target && !link.dataset.opens && !link.getAttribute("href").startsWith("#")) {
    event.preventDefault();
    sent.then(() => location.assign(link.href));
  }
}

// Also fired for links within the page.
function onPopState() {
  const [shown, wanted] = [current.url, location.href].map((address) => address.split("#")[0]);
  if (shown !== wanted) location.reload();
}

// ---- start ----

refuseKeys((event, element) => {
  const { action } = element.dataset;
  if (!current || action === "undo" || action === "help") return "";
  // What is typed after a refused "m" is a note and no answers, until a pause.
  if (action === "note" ? page.loop === "waiting" : event.timeStamp < typingUntil) {
    typingUntil = event.timeStamp + LOOK_FIRST;
    return "the field for the note was not on the screen yet.";
  }
  if (action === "note") return "";
  if (page.loop === "waiting") return "the next question is still on its way.";
  if (undoing) return "an undo is on its way.";
  if (event.timeStamp < shownAt) return "the question was not on the screen yet.";
  return event.timeStamp < lookUntil ? "this question came back. Look at it first." : "";
});

if (current) {
  window.addEventListener("submit", onSubmit, true);
  document.addEventListener("click", onClick);
  window.addEventListener("popstate", onPopState);
  awaitPaint();
  window.addEventListener("beforeunload", (event) => sending.length && event.preventDefault());
  fill();
}
