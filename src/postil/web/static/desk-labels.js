// Labels of an editor. Each is kept in this browser until the server has acknowledged it, and sent again where the
// network fails. An entry is a key of the storage of its own, so that two windows never overwrite each other's.
import { ask } from "./desk-api.js";
import { page, stored, t } from "./desk-dom.js";

const KEPT = `postil.desk.${page.person}.`;
const MOST = 50; // labels per request
const MOST_CHARACTERS = 200_000; // of a request; its limit is in bytes
const PAUSE = 500, LONGEST_PAUSE = 15_000; // ms between two attempts

const known = new Map(); // the last answer to each suggestion: {show, reason, state, problem}
const done = []; // what can be undone, the last one last
const withdrawn = new Set(); // ids that this page has taken back
const memory = new Map(); // entries that the storage did not take
let attempts = 0, timer = 0, sending = null, made = 0, settled = 0;
let single = false; // one label per request, after some were refused together
let state = ""; // "", "offline" or why nothing is sent
export const events = new EventTarget(); // "change", when an answer or its state does
export const totals = { stored: page.labels };

const name = (article, text) => `${article}\n${text}`;
export const answer = (article, text) => known.get(name(article, text)) ?? null;

// Entries that the server has not acknowledged, in their order.
function entries() {
  const found = [...memory];
  try {
    for (const each of Object.keys(localStorage)) {
      const value = each.startsWith(KEPT) && stored.get(localStorage, each);
      if (value) found.push([each, value]);
    }
  } catch { /* there is no storage */ }
  return found.sort(([one], [other]) => (one < other ? -1 : 1));
}
export const waiting = () => entries().length;

// Keeps an entry: a label, which the server stores once under its id, or the id of one to take back.
function keep(entry) {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0"));
  const id = `${Date.now()}`.padStart(15, "0") + `${made++}`.padStart(6, "0") + random.join("");
  const kept = entry.label ? { label: { ...entry.label, id } } : entry;
  if (!stored.set(localStorage, KEPT + id, kept)) memory.set(KEPT + id, kept);
  return id;
}
function forget(id) {
  memory.delete(id);
  stored.remove(localStorage, id);
}
const changed = () => events.dispatchEvent(new Event("change"));

// Sends what an earlier visit left.
export function begin() {
  for (const [, { label: one }] of entries()) {
    if (one) known.set(name(one.article, one.text), { show: one.show, reason: one.reason ?? null, id: one.id, state: "waiting" });
  }
  changed();
  send();
}

// Answers a suggestion in place of an earlier answer; `amends` adds a reason to the last one, to be undone with it.
export function label(one, { show, reason = null, amends = false }) {
  if (!amends) done.push({ one, before: answer(one.article, one.text) });
  put(one, { show, reason });
}
function put(one, found) {
  const before = answer(one.article, one.text);
  if (found) {
    const id = keep({ label: { ...one, show: found.show, ...(found.reason === null ? {} : { reason: found.reason }) } });
    known.set(name(one.article, one.text), { ...found, id, state: "waiting" });
  } else known.delete(name(one.article, one.text));
  if (before?.id) withdraw(before.id); // after what takes its place, so that no failure leaves neither
  changed();
  send();
}
function withdraw(id) {
  withdrawn.add(id);
  keep({ withdrawn: id });
}
export const undoable = () => done.length > 0;
// Takes the last answer back; returns the label, or null where there is none.
export function undo() {
  const last = done.pop();
  if (!last) return null;
  put(last.one, last.before && { show: last.before.show, reason: last.before.reason });
  return last.one;
}

// What the server has of this editor for an article. Ids begin with the time, so that of two answers the later one
// stands; an earlier one that was not known here when it was answered again is taken back, and undo gives it again.
export async function load(article, signal) {
  let found, before;
  do { // asked again where a label was stored or taken back meanwhile, as nobody knows whether the answer counts it
    await sending;
    before = settled;
    found = await ask(`/desk/labels?article=${encodeURIComponent(article)}`, { signal });
  } while (sending || settled !== before);
  totals.stored = found.total;
  for (const { text, show, reason = null, id } of found.labels) {
    if (withdrawn.has(id)) continue; // here, and the server does not know it yet
    const now = answer(article, text);
    if (!now || !((id ?? "") < now.id)) known.set(name(article, text), { show, reason, id, state: "stored" });
    else {
      const first = done.find(({ one }) => one.article === article && one.text === text);
      if (first) first.before ??= { show, reason };
      if (id) withdraw(id);
    }
  }
  changed();
  send();
}

export function send() {
  sending ??= exclusively(deliver).finally(() => {
    sending = null;
    if (!state && waiting()) send(); // an answer of the last moment
  });
  return sending;
}
// One window at a time, where the browser can say so; else both send the same, which the server stores once.
const exclusively = (work) => (navigator.locks ? navigator.locks.request(KEPT, work) : work());

async function deliver() {
  clearTimeout(timer);
  for (let batch; (batch = next()).length; ) {
    const labels = batch.map(([, entry]) => entry.label).filter(Boolean);
    try {
      if (labels.length) await ask("/v1/labels", { body: { labels } });
      else await ask("/v1/labels", { method: "DELETE", body: { ids: batch.map(([, entry]) => entry.withdrawn) } });
      batch.forEach((each) => settle(each, "stored"));
    } catch (error) {
      if (error.passing || error.status === undefined) return again(error);
      if (error.status === 401 || error.status === 403) return stop(error);
      if (batch.length > 1) { // one of them is at fault: find it
        single = true;
        continue;
      }
      batch.forEach((each) => settle(each, "refused", error.message));
    }
    attempts = 0;
  }
  single = false;
  state = "";
  changed();
}
// The first entries of one kind, as many as go into a request.
function next() {
  const all = entries();
  let size = 0, end = 0;
  while (end < all.length && end < (single ? 1 : MOST) && !all[end][1].label === !all[0][1].label) {
    size += JSON.stringify(all[end][1]).length;
    if (end && size > MOST_CHARACTERS) break;
    end += 1;
  }
  return all.slice(0, end);
}
function settle([id, { label: one }], outcome, problem = "") {
  forget(id);
  settled += 1;
  if (outcome === "stored") totals.stored += one ? 1 : -1;
  const now = one && answer(one.article, one.text);
  if (now && now.id === one.id) {
    known.set(name(one.article, one.text), { ...now, state: outcome, problem });
  }
  changed();
}
function again(error) {
  state = "offline";
  changed();
  const pause = Math.max(1000 * (error.wait ?? 0), PAUSE * 2 ** attempts++);
  timer = setTimeout(send, Math.min(pause, LONGEST_PAUSE));
}
function stop(error) { // kept; they are sent after signing in again
  state = error.message;
  changed();
}

addEventListener("online", () => { attempts = 0; send(); });
addEventListener("beforeunload", (event) => { if (memory.size) event.preventDefault(); });
export const offline = () => state !== "";
export const sentence = () => {
  const n = waiting();
  if (state && state !== "offline") return t("Not sent: %", state);
  if (n && state) return n === 1 ? t("No connection. One label is kept in this browser.") : t("No connection. % labels are kept in this browser.", n);
  return n ? t("Saving …") : "";
};
