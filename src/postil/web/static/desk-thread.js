// The comments under an article in the order that the editor chooses, with the reasons of each.
import { ask, failed, waiting } from "./desk-api.js";
import * as decisions from "./desk-decisions.js";
import { $, $$, count, day, el, joined, key, number, page, say, t, text } from "./desk-dom.js";
import { votes } from "./desk-suggestions.js";

const ORDERS = { relevance: t("Relevance"), quality: t("Quality"), votes: t("Votes"), oldest: t("Oldest"), newest: t("Newest"), length: t("Length") };

// Orders that the article and the models allow, the best first.
export function orders(article, { relevance, quality }) {
  const comments = article.comments ?? [];
  const all = (field) => comments.length > 0 && comments.every((one) => one[field] !== null && one[field] !== undefined);
  const there = { quality, relevance, votes: all("upvotes"), oldest: all("date"), newest: all("date"), length: true };
  return Object.keys(there).filter((name) => there[name]);
}

// The controls: one or several orders, their weights where there are several, and the diversity.
export function controls(article, able, change) {
  const names = orders(article, able);
  const box = $("#thread-controls");
  box.hidden = (article.comments?.length ?? 0) < 2;
  box.replaceChildren(
    el("fieldset", { class: "pills" }, el("legend", {}, t("Order")), ...names.map((name, at) =>
      el("label", {}, el("input", { type: "checkbox", name: "by", value: name, checked: at === 0, on: { change: () => { weights(); change(); } } }), el("span", {}, ORDERS[name])))),
    el("div", { class: "sliders" },
      ...names.map((name) => slider(`weight-${name}`, t("Weight: %", ORDERS[name]), { min: 0.5, max: 3, step: 0.5, value: 1 }, (value) => `× ${number(value)}`, change)),
      slider("diversity", t("Diversity"), { min: 0, max: 0.9, step: 0.1, value: 0 }, (value) => number(value), change),
      el("p", { class: "quiet", id: "diversity-note" }, t("Diversity puts what was said above further down."))));
  $("#diversity").setAttribute("aria-describedby", "diversity-note");
  weights();
}
function slider(id, words, range, shownAs, change) {
  const output = el("output", { for: id }, shownAs(range.value));
  const input = el("input", { type: "range", id, name: id, ...range, on: {
    input: () => { output.textContent = shownAs(Number(input.value)); }, change } });
  return el("div", { class: "slider", id: `${id}-row` }, el("label", { for: id }, words), input, output);
}
const chosen = () => $$("#thread-controls [name=by]:checked").map((box) => box.value);
function weights() {
  const names = chosen();
  for (const row of $$("#thread-controls [id^=weight-].slider")) row.hidden = names.length < 2 || !names.includes(row.id.slice(7, -4));
}
function by() {
  return Object.fromEntries(chosen().map((name) => [name, Number($(`#weight-${name}`).value)]));
}

// Asks for the order and shows it; returns the comments, or null.
export async function load(article, { model, quality, signal, again }) {
  const list = $("#thread-list"), comments = article.comments ?? [];
  $("#tab-thread .n").textContent = comments.length ? number(comments.length) : "";
  const orders = comments.length ? by() : {};
  if (!Object.keys(orders).length) {
    list.replaceChildren(el("p", { class: "empty" }, comments.length ? t("Choose an order.") : t("This article came without readers' comments.")));
    return null;
  }
  list.replaceChildren(waiting(t("Sorting the thread …")));
  try {
    const sent = comments.map(({ id, text: words, upvotes, date, parent }) => ({ id, text: words, upvotes, date, parent }));
    const body = { article: { ...article, comments: sent }, by: orders, diversity: Number($("#diversity").value) };
    if ("relevance" in orders) body.model = model;
    if ("quality" in orders) body.quality = quality;
    const { comments: ranked } = await ask("/v1/rank", { body, signal });
    if (page.may.label && ranked.some(marked)) await decisions.load(ranked[0].article, signal).catch(() => {});
    if (signal.aborted) return null;
    show(article, ranked);
    say(t("The thread is sorted."));
    return ranked;
  } catch (error) {
    if (!signal.aborted) list.replaceChildren(failed(error, again));
    return null;
  }
}

// Near copies are folded under the first of them.
function show(article, ranked) {
  const sent = new Map((article.comments ?? []).map((one, at) => [String(one.id ?? `#${at + 1}`), one]));
  const copies = new Map();
  for (const one of ranked) if (one.same_as !== null && one.same_as !== undefined) copies.set(one.same_as, [...(copies.get(one.same_as) ?? []), one]);
  const there = new Set(ranked.map((one) => one.comment));
  const firsts = ranked.filter((one) => !there.has(one.same_as));
  const item = (one) => [
    text("p", one.text, { class: "said", lang: article.lang }),
    el("p", { class: "about" }, joined([votes(sent.get(one.comment)?.upvotes), sent.get(one.comment)?.date && day(sent.get(one.comment).date)])),
    one.reasons?.length > 0 && el("ul", { class: "chips", lang: "en", "aria-label": t("Reasons") }, ...one.reasons.map((reason, at) => text("li", reason, { lang: "en", class: at === 0 && marked(one) && "held" }))),
    page.may.label && marked(one) && verdict(one),
  ];
  rows.clear();
  for (const one of ranked.filter(marked)) rows.set(one.comment, row(one, sent.get(one.comment) ?? {}, article.lang));
  $("#thread-list").replaceChildren(el("ol", { class: "items" }, ...firsts.map((one) => {
    const same = copies.get(one.comment) ?? [];
    return el("li", { class: "item", tabindex: "-1", "data-comment": one.comment }, el("span", { class: "rank", "aria-hidden": "true" }, one.rank), ...item(one),
      same.length > 0 && el("details", {}, el("summary", {}, count(same.length, "One near copy", "% near copies")), el("ul", {}, ...same.map((each) => el("li", { tabindex: "-1", "data-comment": each.comment }, ...item(each))))));
  })));
  refresh();
}

// ---- comments that moderators would hold, as screening expects: the editor agrees, or not

const LIKELY = 0.5; // probability from which on a reason is that of an editor who agrees
const rows = new Map(); // the decision to hold each marked comment, by its id
const marked = (one) => one.screened?.decision === "hold";

function row({ article, comment, text: words, screened }, { user, date }, lang) {
  const [[reason, probability]] = [...Object.entries(screened.reasons), [null, 0]].sort(([, one], [, other]) => other - one);
  const found = { article, id: comment, text: words, decision: "hold", reason: probability >= LIKELY ? reason : null, author: user, date, lang };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined && value !== null));
}
function verdict(one) {
  const button = (does, words, letter) => el("button", { type: "button", class: does, "data-does": does, "data-comment": one.comment, "aria-keyshortcuts": letter, "aria-pressed": "false" }, key(letter), words);
  return el("div", { class: "actions verdict", role: "group", "aria-label": t("Moderators would hold this comment. Do you agree?"), "data-comment": one.comment },
    button("agree", t("Agree: hold"), "a"), button("disagree", t("Disagree: keep"), "x"), el("p", { class: "answer" }));
}
const WORDS = { hold: t("Decided: hold"), keep: t("Decided: keep") };

// The decisions below the comments, as they are now.
export function refresh() {
  for (const made of $$("#thread-list .verdict")) {
    const { article, id } = rows.get(made.dataset.comment), found = decisions.decided(article, id);
    $(".agree", made).setAttribute("aria-pressed", found?.decision === "hold");
    $(".disagree", made).setAttribute("aria-pressed", found?.decision === "keep");
    made.classList.toggle("refused", found?.state === "refused");
    $(".answer", made).textContent = !found ? "" : found.state === "refused" ? t("Not stored: %", found.problem)
      : joined([WORDS[found.decision], found.state === "waiting" ? t("not sent yet") : t("stored")]);
  }
}
const comments = () => $$("#thread-list li[data-comment]");
function go(place) {
  for (let folded = place.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
}
// Decides on a marked comment; without an id on the one that the reader is at. Where that is none, goes to the first one.
export function decide(decision, id = document.activeElement.closest("#thread-list li[data-comment]")?.dataset.comment) {
  if (!page.may.label) return;
  if (id === undefined) {
    const first = comments().find((one) => rows.has(one.dataset.comment));
    return first ? go(first) : say(t("No comment is marked."));
  }
  if (!rows.has(id)) return say(t("This comment is not marked."));
  decisions.decide(rows.get(id), decision);
  say(WORDS[decision]);
}
// Goes to the comment of a decision that was taken back; false where it is not here.
export function undone({ article, id }) {
  say(t("Taken back"));
  const place = rows.get(id)?.article === article && comments().find((one) => one.dataset.comment === id);
  if (place) go(place);
  return Boolean(place);
}
