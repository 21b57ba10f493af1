// Decisions of an editor on comments that moderators would hold, as screening expects: one agrees, or not. A later one on
// the same comment takes the place of the one before.
import { ask } from "./desk-api.js";
import { changed, done, entries, keep, nextId, onSettled, send, settledFirst } from "./desk-outbox.js";

const known = new Map(); // the last decision on each comment: {decision, id, state, problem}

const name = (article, id) => `${article}\n${id}`;
export const decided = (article, id) => known.get(name(article, id)) ?? null;

// What an earlier visit left.
export function begin() {
  for (const [id, { decision: one, undecided }] of entries()) {
    if (one) known.set(name(one.article, one.id), { decision: one.decision, id, state: "waiting" });
    else if (undecided) known.delete(name(undecided.article, undecided.id));
  }
}

// Decides on a comment; `hold` is the row of agreeing, of which `keep` is without the reason.
export function decide(hold, decision) {
  const before = decided(hold.article, hold.id);
  if (before?.decision === decision && before.state !== "refused") return;
  done.push({ of: "comment", one: hold, before, put });
  put(hold, { decision });
}
function put(hold, found) {
  const id = nextId(), at = name(hold.article, hold.id);
  if (found) {
    const { reason, ...keeping } = hold;
    const row = found.decision === "hold" ? hold : keeping;
    keep(id, { decision: { ...row, decision: found.decision } });
    known.set(at, { decision: found.decision, id, state: "waiting" });
  } else {
    keep(id, { undecided: { article: hold.article, id: hold.id } });
    known.delete(at);
  }
  changed();
  send();
}

// What the server has of this editor for an article; what was decided here since is later.
export async function load(article, signal) {
  const { decisions } = await settledFirst(() => ask(`/desk/decisions?article=${encodeURIComponent(article)}`, { signal }));
  for (const { id, decision } of decisions) {
    if (!known.has(name(article, id))) known.set(name(article, id), { decision, state: "stored" });
  }
}

onSettled("decision", (one, { id, outcome, problem }) => {
  const now = decided(one.article, one.id);
  if (now?.id === id) known.set(name(one.article, one.id), { ...now, state: outcome, problem });
});
