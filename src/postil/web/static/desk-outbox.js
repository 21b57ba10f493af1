// What an editor answers. Each entry is kept in this browser until the server has acknowledged it, and sent again where the
// network fails. An entry is a key of the storage of its own, so that two windows never overwrite each other's.
import { ask } from "./desk-api.js";
import { page, stored, t } from "./desk-dom.js";

const KEPT = `postil.desk.${page.person}.`;
const MOST = 50; // entries per request
const MOST_CHARACTERS = 200_000; // of a request; its limit is in bytes
const PAUSE = 500, LONGEST_PAUSE = 15_000; // ms between two attempts

// How the entries of each kind, which is the name of their one field, get to the server.
const KINDS = {
  label: (labels) => ["/v1/labels", { body: { labels } }],
  withdrawn: (ids) => ["/v1/labels", { method: "DELETE", body: { ids } }],
  decision: (decisions) => ["/v1/decisions", { body: { decisions } }],
  undecided: (comments) => ["/v1/decisions", { method: "DELETE", body: { comments } }],
};
const kindOf = (entry) => Object.keys(entry)[0];

const memory = new Map(); // entries that the storage did not take
let attempts = 0, timer = 0, sending = null, made = 0, settled = 0;
let single = false; // one entry per request, after some were refused together
let state = ""; // "", "offline" or why nothing is sent
const settles = {}; // what to do when an entry of a kind was stored or refused
export const events = new EventTarget(); // "change", when an answer or its state does
export const changed = () => events.dispatchEvent(new Event("change"));
export const onSettled = (kind, work) => { settles[kind] = work; };

// Entries that the server has not acknowledged, in their order: their ids with themselves.
export function entries() {
  const found = [...memory];
  try {
    for (const each of Object.keys(localStorage)) {
      const value = each.startsWith(KEPT) && stored.get(localStorage, each);
      if (value) found.push([each.slice(KEPT.length), value]);
    }
  } catch { /* there is no storage */ }
  return found.sort(([one], [other]) => (one < other ? -1 : 1));
}
export const waiting = () => entries().length;

// An id that begins with the time, so that ids are in the order of the answers.
export function nextId() {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0"));
  return `${Date.now()}`.padStart(15, "0") + `${made++}`.padStart(6, "0") + random.join("");
}
export function keep(id, entry) {
  if (!stored.set(localStorage, KEPT + id, entry)) memory.set(id, entry);
}
function forget(id) {
  memory.delete(id);
  stored.remove(localStorage, KEPT + id);
}

// Asks until nothing was stored or taken back meanwhile, as nobody knows whether the response counts that.
export async function settledFirst(asked) {
  let found, before;
  do {
    await sending;
    before = settled;
    found = await asked();
  } while (sending || settled !== before);
  return found;
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
    const kind = kindOf(batch[0][1]);
    try {
      await ask(...KINDS[kind](batch.map(([, entry]) => entry[kind])));
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
  while (end < all.length && end < (single ? 1 : MOST) && kindOf(all[end][1]) === kindOf(all[0][1])) {
    size += JSON.stringify(all[end][1]).length;
    if (end && size > MOST_CHARACTERS) break;
    end += 1;
  }
  return all.slice(0, end);
}
function settle([id, entry], outcome, problem = "") {
  forget(id);
  settled += 1;
  const kind = kindOf(entry);
  settles[kind]?.(entry[kind], { id, outcome, problem });
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

// What can be undone, the last one last: what was answered, the answer before it, and how to put that back.
export const done = [];
export const undoable = () => done.length > 0;
// Takes the last answer back; returns what it was, or null where there is none.
export function undo() {
  const last = done.pop() ?? null;
  last?.put(last.one, last.before);
  return last;
}
