// Suggestions as cards: where each comes from, what the labels say of it, and the answer of the editor.
import { ask, failed, waiting } from "./desk-api.js";
import { $, $$, around, copy, count, day, el, joined, key, link, number, page, percent, quoted, say, sentence, t, text } from "./desk-dom.js";
import * as labels from "./desk-labels.js";

export const LABEL = t("Machine-generated suggestion");

let article = null, found = null;
let current = 0, refused = -1; // the card that the next key answers, and the one whose reason a digit gives; -1 for none
export const shown = () => found;

// Asks for suggestions and shows them; returns them, or null where another request took the place of this one.
export async function load(one, options) {
  const { model, k, precision, signal } = options;
  const list = $("#suggestions-list");
  article = one;
  leave();
  list.replaceChildren(waiting(t("Looking for suggestions …")));
  tally();
  try {
    const { comments: _, ...sent } = one; // an article's own comments are not read
    const body = { article: sent, model, k, ...(precision ? { precision } : {}) };
    const said = await ask("/v1/suggest", { body, signal });
    if (signal.aborted) return null;
    one.id ??= said.article; // the server makes one up for an article without
    found = said;
    show();
    const n = said.suggestions.length;
    say(n ? count(n, "One suggestion", "% suggestions") : t("No suggestion for this article."));
    if (page.may.label) labels.load(one.id, signal).catch(() => {}); // answers of earlier visits, when they come
    return said;
  } catch (error) {
    if (!signal.aborted) list.replaceChildren(failed(error, options.again));
    return null;
  }
}
function tally() {
  $("#tab-suggestions .n").textContent = found ? number(found.suggestions.length) : "";
}
function show() {
  [current, refused] = [0, -1];
  tally();
  const { suggestions, filtered = [], reason } = found;
  const none = el("div", { class: "empty" }, el("p", {}, t("No suggestion for this article.")), reason && text("p", sentence(reason), { lang: "en" }));
  const list = suggestions.length ? [el("ol", { class: "items" }, ...suggestions.map(card)), el("p", { class: "last", tabindex: "-1", hidden: true }, t("That was the last suggestion."))] : [none];
  if (page.may.label && page.articles) list.push(el("p", {}, el("button", { type: "button", "data-does": "draw" }, t("Draw an article to label"))));
  $("#suggestions-list").replaceChildren(...list, ...(filtered.length ? [dropped(filtered)] : []));
  refresh();
}
function card(one, at) {
  const likely = one.probability ?? null; // an estimate is never certain, so it is shown from 1 to 99 %
  const nth = t("% of %", at + 1, found.suggestions.length);
  return el("li", { class: "item card", tabindex: "-1", "data-at": at, on: { focusin: () => select(at) } },
    el("header", {},
      el("p", { class: "label" }, LABEL, el("span", { class: "aside" }, ` ${nth}`)),
      likely !== null && el("p", { class: "likely" }, el("progress", { max: 1, value: likely, "aria-hidden": "true" }),
        t("likely worth showing %", percent(Math.min(Math.max(likely, 0.01), 0.99))))),
    text("blockquote", one.text, { lang: article.lang }),
    origin(one.provenance),
    el("div", { class: "actions" },
      page.may.label && button("show", at, t("Show"), "s"),
      page.may.label && button("hide", at, t("Do not show"), "d"),
      el("p", { class: "answer" }),
      button("copy", at, t("Copy"), "c")),
    el("p", { class: "teaches quiet", hidden: true }, t("Your answer to this one teaches most.")),
    el("div", { class: "why", hidden: true }));
}
const button = (does, at, words, letter) =>
  el("button", { type: "button", class: does, "data-does": does, "data-at": at, "aria-keyshortcuts": letter, "aria-pressed": does === "copy" ? null : "false" }, key(letter), words);

// Where a suggestion comes from, in words: whose readers wrote it, or that a model did.
function origin({ method, model, sources = [], overlap = null }) {
  const [source, ...alike] = sources;
  if (source) {
    return el("div", { class: "origin" }, cited(source), alike.length > 0 && el("details", {},
      el("summary", {}, count(alike.length, "One more reader wrote nearly the same", "% more readers wrote nearly the same")),
      el("ul", {}, ...alike.map((each) => el("li", {}, cited(each))))));
  }
  const by = method === "llm" ? t("Written by the language model %.", model) : t("Written by a model; no reader wrote it.");
  return el("div", { class: "origin" }, el("p", {}, by), overlap && el("details", {},
    el("summary", {}, t("% words in a row are also in a reader's comment", number(overlap.words))), text("p", quoted(overlap.span)), cited(overlap.source)));
}
function cited(source) {
  const title = source.title ? link(source.url, quoted(source.title), { dir: "auto" }) : link(source.url, t("another article (%)", source.article));
  const about = joined([source.date && day(source.date), votes(source.upvotes)]);
  return el("p", { class: "cited" }, ...around("Readers of % wrote this", title), about && ` · ${about}`);
}
export const votes = (n) => (n === null || n === undefined ? "" : count(n, "One vote", "% votes"));

function dropped(filtered) {
  return el("details", { class: "dropped" },
    el("summary", {}, count(filtered.length, "One more was filtered out", "% more were filtered out")),
    el("ul", {}, ...filtered.map((one) => el("li", {}, text("p", one.text, { lang: article.lang, class: "said" }), text("p", sentence(one.reason), { class: "because", lang: "en" })))));
}

// The answers beside the cards, as they are now.
export function refresh() {
  if (!found) return;
  const teaching = teachesMost();
  for (const made of $$("#suggestions-list .card")) {
    const at = Number(made.dataset.at), answer = labels.answer(article.id, found.suggestions[at].text);
    made.classList.toggle("yes", answer?.show === true);
    made.classList.toggle("no", answer?.show === false);
    made.classList.toggle("refused", answer?.state === "refused");
    made.classList.toggle("current", at === current);
    $(".show", made)?.setAttribute("aria-pressed", answer?.show === true);
    $(".hide", made)?.setAttribute("aria-pressed", answer?.show === false);
    $(".answer", made).textContent = answerWords(answer);
    $(".teaches", made).hidden = at !== teaching;
    whyNot(made, at, answer);
  }
  for (const line of $$("#suggestions-list .last")) line.hidden = current < cards().length;
}
// The card without an answer whose probability is nearest to one half; -1 where there is none, or no filter.
function teachesMost() {
  const doubt = ({ probability, text: words }) => (page.may.label && (probability ?? null) !== null && !labels.answer(article.id, words) ? Math.abs(probability - 0.5) : Infinity);
  const doubts = found.suggestions.map(doubt), least = Math.min(...doubts);
  return least < Infinity ? doubts.indexOf(least) : -1;
}
export function answerWords(answer) {
  if (!answer) return "";
  if (answer.state === "refused") return t("Not stored: %", answer.problem);
  const why = answer.show ? "" : answer.reason === null ? "" : t(answer.reason);
  return joined([why, answer.state === "waiting" ? t("not sent yet") : t("stored")]);
}
// The reasons to choose from, on the card that was just refused.
function whyNot(made, at, answer) {
  const box = $(".why", made), open = at === refused && answer?.show === false;
  if (box.hidden === !open) return;
  box.hidden = !open;
  if (!open) return box.replaceChildren();
  const digits = page.reasons.map((reason, digit) => [reason, digit]);
  box.replaceChildren(el("p", { id: `why-not-${at}` }, t("Why? You can leave it out.")),
    el("div", { class: "reasons", role: "group", "aria-labelledby": `why-not-${at}` }, ...[...digits.slice(1), digits[0]].map(([reason, digit]) =>
      el("button", { type: "button", "data-does": "reason", "data-at": at, value: digit, "aria-keyshortcuts": digit }, key(digit), t(reason)))));
}

const cards = () => $$("#suggestions-list .card");
function select(at) {
  current = at;
  refresh();
}
// Goes to a card, or behind the last one, where keys answer nothing; `asked` is the card that a digit still belongs to.
function go(at, asked = -1) {
  [current, refused] = [at, asked];
  refresh();
  const place = cards()[at] ?? $("#suggestions-list .last");
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
}
export function move(by) {
  const inside = $$("#suggestions-list :is(.card, .last)").some((one) => one.contains(document.activeElement));
  const to = inside ? current + by : Math.min(current, cards().length - 1);
  if (!cards()[to]) return close();
  go(to);
  return true;
}
// From now on a digit gives no reason.
function close() {
  refused = -1;
  refresh();
  return false;
}
// Another article is on its way: the cards that are still to be seen are not answered any more.
export function leave() {
  [found, refused] = [null, -1];
}

function row(at) {
  const one = found.suggestions[at], [source] = one.provenance.sources ?? [];
  return Object.fromEntries(Object.entries({
    article: article.id, text: one.text, annotator: page.person, rank: one.rank,
    source_article: source?.article, source_comment: source?.comment, model_hash: one.provenance.model_hash,
    title: article.title, content: article.content, lang: article.lang,
  }).filter(([, value]) => value !== undefined && value !== null));
}
// Answers a card and goes on to the next one; without `at` it is the card that a key is for, and behind the last one none.
export function answer(show, at = null) {
  const one = at ?? current;
  if (!page.may.label || !found?.suggestions[one]) return;
  labels.label(row(one), { show });
  go(one + 1, show ? -1 : one);
  if (at !== null && !show) $(`#suggestions-list .card[data-at="${one}"] .why`).scrollIntoView({ block: "nearest" });
  say(show ? t("Show") : t("Do not show. A digit gives the reason."));
}
// Gives the reason for the refusal right before; false where no reason is asked for.
export function because(digit, at = refused) {
  const reason = page.reasons[digit];
  if (!reason || at < 0 || at !== refused) return false;
  refused = -1;
  labels.label(row(at), { show: false, reason, amends: true });
  if (current === at) go(at + 1); // by mouse, which went back to the card
  say(t("Do not show: %", t(reason)));
  return true;
}
// Goes to the card whose answer was taken back; false where it is not here.
export function undone(one) {
  const at = one.article === article?.id ? found?.suggestions.findIndex((each) => each.text === one.text) ?? -1 : -1;
  say(t("Taken back"));
  if (at < 0) return close();
  go(at);
  return true;
}

// A suggestion as text, never without its label and its source.
export function asText({ text: words, provenance }) {
  const [source] = provenance.sources ?? [];
  const about = source && joined([source.date && day(source.date), votes(source.upvotes), source.url]);
  const from = source && t("Readers of % wrote this", source.title ? quoted(source.title) : t("another article (%)", source.article));
  return [`${LABEL}:`, quoted(words), from && `— ${joined([from, about])}`].filter(Boolean).join("\n");
}
export async function copyOne(at = current) {
  const one = found?.suggestions[at];
  if (!one) return;
  close();
  say((await copy(asText(one))) ? t("Copied with its label and source") : t("The browser does not let this page copy."));
  const made = $(`#suggestions-list .card[data-at="${at}"] .copy`);
  made.classList.add("did");
  setTimeout(() => made.classList.remove("did"), 1200);
}
