// Requests of the desk. A failure is a Problem with a sentence for the reader.
import { el, sentence, t } from "./desk-dom.js";

export class Problem extends Error {
  constructor(status, words, wait = 0) {
    super(words);
    this.status = status; // 0 where no response came
    this.wait = wait; // seconds that the server asks to wait
  }
  // True where the same request may succeed later.
  get passing() { return [0, 408, 425, 429, 502, 503, 504].includes(this.status) || this.status >= 500; }
}

// What a reader can do where the status says it; else the server's own words say more.
const SENTENCES = {
  401: t("You are signed out. Sign in again; your labels are kept in this browser."),
  413: t("This article is too long for the server."),
  429: t("Too many requests. Wait a moment and try again."),
  503: t("The server is busy. Wait a moment and try again."),
  504: t("The server took too long. Try again."),
};

export async function ask(path, { method, body, signal, seconds = 30 } = {}) {
  const limit = AbortSignal.timeout(1000 * seconds);
  const options = {
    method: method ?? (body ? "POST" : "GET"),
    headers: { Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body && JSON.stringify(body),
    signal: signal ? either(signal, limit) : limit,
    cache: "no-store",
  };
  let answer, content;
  try {
    answer = await fetch(path, options);
    content = await answer.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    const slow = limit.aborted;
    throw new Problem(0, slow ? t("The server did not answer in time.") : t("The server cannot be reached."));
  }
  let said = null;
  try { said = JSON.parse(content); } catch { /* a proxy's page */ }
  if (answer.ok && said !== null) return said;
  throw problem(answer, said);
}

function problem(answer, said) {
  const detail = typeof said?.detail === "string" ? sentence(said.detail) : t("The server answered with an error (%).", answer.status);
  const wait = Number(answer.headers.get("Retry-After")) || 0;
  return new Problem(answer.ok ? 502 : answer.status, SENTENCES[answer.status] ?? detail, wait);
}
function either(one, other) {
  if (AbortSignal.any) return AbortSignal.any([one, other]);
  const both = new AbortController();
  for (const each of [one, other]) each.addEventListener("abort", () => both.abort(each.reason), { once: true });
  return both.signal;
}

// What stands where a list would: that it is being made, or why there is none.
export const waiting = (words) => el("p", { class: "waiting" }, el("span", { class: "spinner", "aria-hidden": "true" }), words);
export function failed(error, again) {
  const words = error instanceof Problem ? error.message : t("Something went wrong in this page. Reload it.");
  if (!(error instanceof Problem)) console.error(error);
  const signIn = error.status === 401 && el("a", { class: "button", href: "/" }, t("Sign in"));
  return el("div", { class: "failed", role: "alert" }, el("p", {}, words),
    signIn || el("button", { type: "button", on: { click: again } }, t("Try again")));
}
