// The comments under an article in the order that the editor chooses, with the reasons of each.
import { ask, failed, waiting } from "./desk-api.js";
import { $, $$, count, day, el, joined, number, say, t, text } from "./desk-dom.js";
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
    one.reasons?.length > 0 && el("ul", { class: "chips", lang: "en", "aria-label": t("Reasons") }, ...one.reasons.map((reason, at) => text("li", reason, { lang: "en", class: at === 0 && one.screened?.decision === "hold" && "held" }))),
  ];
  $("#thread-list").replaceChildren(el("ol", { class: "items" }, ...firsts.map((one) => {
    const same = copies.get(one.comment) ?? [];
    return el("li", { class: "item", tabindex: "-1" }, el("span", { class: "rank", "aria-hidden": "true" }, one.rank), ...item(one),
      same.length > 0 && el("details", {}, el("summary", {}, count(same.length, "One near copy", "% near copies")), el("ul", {}, ...same.map((each) => el("li", {}, ...item(each))))));
  })));
}
