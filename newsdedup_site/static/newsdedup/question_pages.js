// The pages of questions as the loop needs them: the question's <main>, and the address of the question after it.

// Names of questions that the editor skipped, as addresses have them: p12, c7.
export const skipped = new Set((new URL(location.href).searchParams.get("skip") ?? "").split(",").filter(Boolean));

// A question has a form with data-answer; other pages are none.
export function questionIn(page, url) {
  const main = page.querySelector("main");
  const form = main?.querySelector("form[data-answer]");
  return form ? { main, url, title: page.title, name: form.dataset.answer } : null;
}

const PATIENCE = 20000; // milliseconds

// The options of a request that sends these fields, with the token of now: logging in again in another tab changes it.
export function posting(fields, headers = {}) {
  const token = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? fields.get("csrfmiddlewaretoken");
  fields.delete("csrfmiddlewaretoken");
  const signal = AbortSignal.timeout(PATIENCE);
  // The browser sends it even if the page is closed.
  return { method: "POST", body: fields, headers: { ...headers, "X-CSRFToken": token }, keepalive: true, signal };
}

export async function fetchPage(url, options) {
  const response = await fetch(url, options ?? { signal: AbortSignal.timeout(PATIENCE) });
  if (!response.ok) throw new Error(String(response.status));
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const question = questionIn(page, withSkip(response.url));
  if (question) {
    addStyles(page);
    question.main = document.adoptNode(question.main);
  }
  return { response, page, question };
}

// A page of another kind may have a style sheet of its own; it is here before the page is shown.
function addStyles(page) {
  for (const link of page.head.querySelectorAll("link[rel=stylesheet]")) {
    const address = link.getAttribute("href");
    if (!document.head.querySelector(`link[href="${CSS.escape(address)}"]`)) document.head.append(link.cloneNode());
  }
}

// What was fetched ahead is not skipped: a page must not carry it further.
function withSkip(address) {
  const url = new URL(address, location.href);
  if (skipped.size && url.searchParams.has("tab")) url.searchParams.set("skip", [...skipped].join(","));
  else url.searchParams.delete("skip");
  return url.href;
}

// The question after the last of these; null if the page of that one names none. A tab of the queue finds the next
// question by what to pass over, a list of pairs has an order.
export function addressAfter(questions, pending) {
  const link = questions.at(-1).main.querySelector("a[rel=next]");
  if (!link) return null;
  const address = new URL(link.href, location.href);
  if (!address.pathname.endsWith("/queue/next/")) return address.href;
  const passed = new Set([...skipped, ...[...pending, ...questions].map((question) => question.name)]);
  address.searchParams.set("skip", [...passed].join(","));
  return address.href;
}
