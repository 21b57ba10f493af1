// Labels of an editor: whether a suggestion should be shown.
import { ask } from "./desk-api.js";
import { page } from "./desk-dom.js";
import { changed, done, entries, keep, nextId, onSettled, send, settledFirst } from "./desk-outbox.js";

const known = new Map(); // the last answer to each suggestion: {show, reason, id, state, problem}
const withdrawn = new Set(); // ids that this page has taken back
export const totals = { stored: page.labels };

const name = (article, text) => `${article}\n${text}`;
export const answer = (article, text) => known.get(name(article, text)) ?? null;

// What an earlier visit left.
export function begin() {
  for (const [, { label: one }] of entries()) {
    if (one) known.set(name(one.article, one.text), { show: one.show, reason: one.reason ?? null, id: one.id, state: "waiting" });
  }
}

// Answers a suggestion in place of an earlier answer; `amends` adds a reason to the last one, to be undone with it.
export function label(one, { show, reason = null, amends = false }) {
  if (!amends) done.push({ of: "suggestion", one, before: answer(one.article, one.text), put });
  put(one, { show, reason });
}
function put(one, found) {
  const before = answer(one.article, one.text);
  if (found) {
    const { show, reason } = found, id = nextId();
    keep(id, { label: { ...one, show, ...(reason === null ? {} : { reason }), id } }); // the server stores it once under its id
    known.set(name(one.article, one.text), { show, reason, id, state: "waiting" });
  } else known.delete(name(one.article, one.text));
  if (before?.id) withdraw(before.id); // after what takes its place, so that no failure leaves neither
  changed();
  send();
}
function withdraw(id) {
  withdrawn.add(id);
  keep(nextId(), { withdrawn: id });
}

// What the server has of this editor for an article. Ids begin with the time, so that of two answers the later one
// stands; an earlier one that was not known here when it was answered again is taken back, and undo gives it again.
export async function load(article, signal) {
  const found = await settledFirst(() => ask(`/desk/labels?article=${encodeURIComponent(article)}`, { signal }));
  totals.stored = found.total;
  for (const { text, show, reason = null, id } of found.labels) {
    if (withdrawn.has(id)) continue; // here, and the server does not know it yet
    const now = answer(article, text);
    if (!now || !((id ?? "") < now.id)) known.set(name(article, text), { show, reason, id, state: "stored" });
    else {
      const first = done.find(({ of, one }) => of === "suggestion" && one.article === article && one.text === text);
      if (first) first.before ??= { show, reason };
      if (id) withdraw(id);
    }
  }
  changed();
  send();
}

onSettled("label", (one, { outcome, problem }) => {
  if (outcome === "stored") totals.stored += 1;
  const now = answer(one.article, one.text);
  if (now?.id === one.id) known.set(name(one.article, one.text), { ...now, state: outcome, problem });
});
onSettled("withdrawn", (_, { outcome }) => { if (outcome === "stored") totals.stored -= 1; });
