// The desk: an editor chooses an article and sees suggestions, conversation starters and the sorted thread.
import { body, head, hide, hideUnlessFocused, remember, remembered, starters } from "./desk-article.js";
import { ask, failed, waiting } from "./desk-api.js";
import { $, $$, count, day, el, joined, notice, number, page, percent, say, stored, t, text } from "./desk-dom.js";
import { download } from "./desk-export.js";
import * as decisions from "./desk-decisions.js";
import * as labels from "./desk-labels.js";
import * as outbox from "./desk-outbox.js";
import * as suggestions from "./desk-suggestions.js";
import * as thread from "./desk-thread.js";
import { ready, train } from "./desk-train.js";

const WIDE = matchMedia("(min-width: 60.01rem)");
const TYPED = 150; // ms after the last key before the list is searched
const SETTLED = 250; // ms after the last change of a control
const MOST_SKIPPED = 500; // articles seen before that are not drawn again
const SHORTCUTS = "postil.desk.shortcuts";

let models = [];
let visit = null; // the article that is open: {article, at, passages}
const visits = new Map(); // all articles of this visit with what was shown
let tab = "suggestions";
const running = { article: null, suggestions: null, starters: null, thread: null };

// A signal that ends with the next request of the same part.
function fresh(part) {
  running[part]?.abort();
  running[part] = new AbortController();
  return running[part].signal;
}
function later(work, pause) {
  let timer = 0;
  return (...values) => { clearTimeout(timer); timer = setTimeout(() => work(...values), pause); };
}

// ---- choosing an article

function choose(focus = true) {
  $("#read").hidden = true;
  $("#choose").hidden = false;
  document.body.classList.remove("reading");
  document.title = t("Desk");
  hide();
  if (focus) $("#choose h1").focus();
  list();
}
const ways = () => $$("#choose [role=tab]");
function way(name, focus = false) {
  for (const each of ways()) {
    const on = each.dataset.way === name;
    each.setAttribute("aria-selected", on);
    each.tabIndex = on ? 0 : -1;
    if (on && focus) each.focus();
    $(`#way-${each.dataset.way}`).hidden = !on;
  }
}
async function list() {
  if (!page.articles) return;
  const signal = fresh("article"), box = $("#found");
  try {
    const said = await ask(`/desk/articles?q=${encodeURIComponent($("#search").value)}`, { signal });
    box.replaceChildren(...said.articles.map((one) => el("li", {}, el("a", { href: `/?article=${one.number}`, on: { click: (event) => { if (plain(event)) { event.preventDefault(); go(one.number); } } } },
      text("span", one.title, { class: "title", lang: one.lang }),
      el("span", { class: "about" }, joined([one.category, one.date && day(one.date), one.comments && count(one.comments, "One comment", "% comments")]))))));
    $("#found-n").textContent = said.total === 0 ? t("No article has these words.")
      : said.total > said.articles.length ? t("The first % of % articles", said.articles.length, number(said.total)) : count(said.total, "One article", "% articles");
  } catch (error) {
    if (!signal.aborted) box.replaceChildren(el("li", {}, failed(error, list)));
  }
}
const plain = (event) => !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);

// Opens an article of the list, which has an address of its own in this page.
async function go(at, push = true) {
  if (push) history.pushState({ at }, "", `/?article=${at}`);
  const signal = fresh("article");
  suggestions.leave();
  try {
    await open(await ask(`/desk/articles/${at}`, { signal }), at);
  } catch (error) {
    if (!signal.aborted) { choose(); notice(error.message); }
  }
}
// Opens an article that was pasted or fetched; the server gives it an identifier made of its texts.
async function made(fields) {
  history.pushState({}, "", "/");
  await open(fields, null);
}

function paste(event) {
  event.preventDefault();
  const [title, content] = [$("#title-in").value.trim(), $("#content-in").value.replace(/\r\n?/g, "\n").trim()];
  if (!title) return invalid("#title-in", t("Give the article a title."));
  const comments = $("#comments-in").value.replace(/\r\n?/g, "\n").split(/\n\s*\n/).map((one) => one.trim()).filter(Boolean);
  const lang = $("#lang-in").value.trim();
  made({ title, ...(content ? { content } : {}), ...(lang ? { lang } : {}), ...(editing?.extra ?? {}),
    ...(comments.length ? { comments: comments.map((one, at) => ({ id: `c${at + 1}`, text: one })) } : {}) });
  editing = null;
}
let editing = null; // what a changed article keeps besides its texts
function edit() {
  const { title, content = "", lang = "", comments = [], url, date } = visit.article;
  choose(false);
  way("paste");
  [$("#title-in").value, $("#content-in").value, $("#lang-in").value] = [title, content, lang];
  $("#comments-in").value = comments.map((one) => one.text.replace(/\n\s*\n/g, "\n")).join("\n\n");
  editing = { extra: { ...(url ? { url } : {}), ...(date ? { date } : {}) } };
  $("#title-in").focus();
}
function invalid(field, words) {
  const input = $(field), told = $(`${field}-told`);
  told.textContent = words;
  input.setAttribute("aria-invalid", "true");
  input.focus();
  input.addEventListener("input", () => { told.textContent = ""; input.removeAttribute("aria-invalid"); }, { once: true });
}
async function fetchAddress(event) {
  event.preventDefault();
  const url = $("#url-in").value.trim();
  if (!/^https?:\/\/[^/]/i.test(url)) return invalid("#url-in", t("Give a whole address, such as https://news.example/story."));
  const signal = fresh("article");
  $("#url-state").replaceChildren(waiting(t("Fetching the page …")));
  try {
    const found = await ask("/v1/article", { body: { url }, signal });
    $("#url-state").replaceChildren();
    const { title, content, lang, date } = found;
    await made(Object.fromEntries(Object.entries({ title, content, lang, date, url: found.url ?? url }).filter(([, value]) => value)));
  } catch (error) {
    if (!signal.aborted) $("#url-state").replaceChildren(failed(error, () => fetchAddress(new Event("submit"))));
  }
}

// ---- reading it

async function open(article, at) {
  visit = { article, at, suggested: null, passages: [], ranked: null };
  visits.set(at ?? `${article.title}\n${article.content}`, visit);
  remember({ article, at });
  notice();
  $("#choose").hidden = true;
  $("#read").hidden = false;
  document.body.classList.add("reading");
  document.title = article.title;
  head(article, el("span", { class: "head-actions" },
    el("button", { type: "button", class: "quiet", "data-does": "edit" }, t("Edit"))));
  body(article);
  $("#tab-starters .n").textContent = "";
  $("#previous").hidden = $("#next").hidden = at === null;
  $("#previous").disabled = at === 0;
  $("#next").disabled = at === page.articles - 1;
  $("#article").scrollTop = 0;
  $("#panels").scrollTop = 0;
  scrollTo(0, 0);
  show(!WIDE.matches || tab !== "article" ? tab : "suggestions");
  $(WIDE.matches || tab === "article" ? "#title" : `#tab-${tab}`).focus({ preventScroll: true });
  thread.controls(article, able(), later(sort, SETTLED));
  await Promise.all([suggest(), findStarters(), sort()]);
}
const retrievers = () => models.filter((one) => one.operations.includes("suggest"));
const named = () => $("#model").value || undefined;
const quality = () => models.find((one) => one.kind === "quality")?.name;
const relevance = () => models.find((one) => one.name === named() && one.operations.includes("rank"))?.name
  ?? models.find((one) => one.kind !== "quality" && one.operations.includes("rank"))?.name;
const able = () => ({ relevance: Boolean(relevance()), quality: Boolean(quality()) });

async function suggest() {
  if (!visit) return;
  const mine = visit, precision = Number($("#precision").value) || null;
  const depth = precision ? models.find((one) => one.name === named())?.calibrated?.depth : null;
  const k = Math.min(Number($("#k").value), depth ?? Infinity); // a promise holds for so many first suggestions
  const options = { model: named(), k, precision, signal: fresh("suggestions"), again: suggest };
  mine.suggested = (await suggestions.load(mine.article, options)) ?? mine.suggested;
  progress();
}
async function findStarters() {
  if (!visit) return;
  const mine = visit;
  const found = await starters(mine.article, { split: $("#split").value, signal: fresh("starters"), jump, again: findStarters });
  mine.passages = found ?? mine.passages;
  if (!found || mine !== visit) return;
  $("#tab-starters .n").textContent = found.length ? number(found.length) : "";
  body(mine.article, found);
}
async function sort() {
  if (!visit) return;
  const mine = visit;
  const options = { model: relevance(), quality: quality(), signal: fresh("thread"), again: sort };
  mine.ranked = (await thread.load(mine.article, options)) ?? mine.ranked;
}
function jump(rank) {
  if (!WIDE.matches) show("article");
  const mark = $(`#passage-${rank}`);
  if (!mark) return;
  mark.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  mark.focus({ preventScroll: true });
}

// ---- tabs: on narrow screens the article is one of them

const tabs = () => $$("#tabs [role=tab]").filter((one) => !one.hidden);
function show(name, focus = false) {
  if (name !== tab) { // what is shown now begins at its top
    if (!WIDE.matches) scrollTo(0, 0);
    $("#panels").scrollTop = 0;
  }
  tab = name;
  $("#tab-article").hidden = WIDE.matches;
  if (WIDE.matches && tab === "article") tab = "suggestions";
  for (const each of $$("#tabs [role=tab]")) {
    const on = each.dataset.tab === tab;
    each.setAttribute("aria-selected", on);
    each.tabIndex = on ? 0 : -1;
    if (on && focus) each.focus();
    $(`#${each.dataset.tab}`).hidden = !on && !(WIDE.matches && each.dataset.tab === "article");
  }
  const article = $("#article");
  article.setAttribute("role", WIDE.matches ? "region" : "tabpanel");
  article.setAttribute("aria-labelledby", WIDE.matches ? "title" : "tab-article");
  $("#title-aside").textContent = visit?.article.title ?? ""; // where the article is not to be seen
  $("#title-aside").hidden = !article.hidden;
  hide();
}
function arrows(event, all, pick) {
  const by = { ArrowRight: 1, ArrowLeft: -1, Home: -all.length, End: all.length }[event.key];
  if (!by) return;
  event.preventDefault();
  const at = all.indexOf(document.activeElement), to = Math.abs(by) > 1 ? (by < 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
  pick(all[to]);
}

// ---- labels

function progress() {
  const sentence = outbox.sentence(), sign = $("#state");
  sign.className = `state ${sentence ? (outbox.offline() ? "kept" : "") : "saved"}`;
  const words = sentence || (labels.totals.stored || outbox.undoable() ? t("Saved") : "");
  if (sign.textContent !== words) sign.textContent = words;
  if (!page.may.label) return;
  $("#undo").hidden = !outbox.undoable();
  $("#count").textContent = count(labels.totals.stored, "One label", "% labels");
  if (visit && suggestions.shown()) suggestions.refresh();
  thread.refresh();
}
function undo() {
  const last = outbox.undo();
  if (!last) return say(t("There is nothing to take back."));
  const { one } = last;
  const before = tab, there = last.of === "comment" ? (show("thread"), thread.undone(one)) : suggestions.undone(one);
  if (there && last.of === "suggestion") show("suggestions");
  if (there) return;
  show(before);
  notice(t("Taken back: the answer to “%” under another article.", one.text.slice(0, 80)));
}
function openTraining() {
  ready();
  toggle("#train");
}

// ---- keys and buttons

const shortcuts = () => stored.get(localStorage, SHORTCUTS) !== false;
function toggle(id) {
  const dialog = $(id);
  if (dialog.open) dialog.close();
  else {
    $$("dialog[open]").forEach((one) => one.close());
    dialog.showModal();
  }
}
// Opens an article that nobody has labeled, drawn at random, so that what the labels teach holds for others.
async function draw() {
  const seen = [...visits.values()].map((one) => one.at).filter((at) => at !== null);
  try {
    const { number: at } = await ask(`/desk/next?skip=${seen.slice(-MOST_SKIPPED).join(",")}`);
    if (at === null) notice(t("All articles of the list have labels, or you have seen them."));
    else go(at);
  } catch (error) {
    notice(error.message);
  }
}
function step(by) {
  if (visit?.at === null || !visit) return;
  const to = visit.at + by;
  if (to >= 0 && to < page.articles) go(to);
}
// Moves among the cards, starters or comments of the open tab.
function move(by) {
  if (tab === "suggestions") return suggestions.move(by);
  const items = $$(`#${tab} .item`), at = items.findIndex((one) => one.contains(document.activeElement));
  const to = items[at < 0 ? 0 : at + by];
  to?.focus({ preventScroll: true });
  to?.scrollIntoView({ block: "nearest" });
  return Boolean(to);
}
const KEYS = {
  s: () => labelTab() && suggestions.answer(true), d: () => labelTab() && suggestions.answer(false),
  j: () => move(1), k: () => move(-1), u: undo, c: () => labelTab() && suggestions.copyOne(),
  a: () => tab === "thread" && thread.decide("hold"), x: () => tab === "thread" && thread.decide("keep"),
  n: () => step(1), p: () => step(-1),
};
const labelTab = () => tab === "suggestions" && suggestions.shown();
const typing = (target) => target.matches?.("textarea, select, input:not([type=checkbox], [type=range], [type=radio])");

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return hide();
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
  const letter = event.key.toLowerCase(), reading = visit && !$("#read").hidden;
  if (letter === "?" || letter === "？") { event.preventDefault(); return toggle("#keys"); }
  if ($("dialog[open]") || event.target.matches("[type=range], [type=radio]")) return;
  const arrow = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (reading && arrow && $(`#${tab}`).contains(event.target) && event.target.closest(".item, .last")) {
    if (move(arrow)) event.preventDefault();
    return;
  }
  if (!shortcuts()) return;
  if (letter === "/" && !$("#choose").hidden && page.articles) { event.preventDefault(); way("list"); return $("#search").focus(); }
  if (!reading) return;
  const digit = /^[0-9]$/.exec(event.key)?.[0];
  if (digit !== undefined) { if (!event.repeat && labelTab() && suggestions.because(Number(digit))) event.preventDefault(); return; }
  const does = KEYS[letter];
  if (!does || event.shiftKey) return;
  event.preventDefault();
  if (!event.repeat || "jk".includes(letter)) does(); // a key held down answers once
});

const DOES = {
  show: (one) => suggestions.answer(true, Number(one.dataset.at)),
  hide: (one) => suggestions.answer(false, Number(one.dataset.at)),
  reason: (one) => suggestions.because(Number(one.value), Number(one.dataset.at)),
  copy: (one) => suggestions.copyOne(Number(one.dataset.at)),
  agree: (one) => thread.decide("hold", one.dataset.comment), disagree: (one) => thread.decide("keep", one.dataset.comment),
  undo, edit, choose: () => { history.pushState({}, "", "/"); remember(null); visit = null; $$("dialog[open]").forEach((one) => one.close()); choose(); },
  draw, previous: () => step(-1), next: () => step(1),
  menu: () => toggle("#menu"), keys: () => toggle("#keys"), train: openTraining, close: (one) => one.closest("dialog").close(),
  go: () => train(named(), again), dismiss: () => notice(),
  export: () => toggle("#export"),
  download: (one) => { download(one.value, $("#export [name=what]:checked").value === "all" || !visit ? [...visits.values()] : [visit]); $("#export").close(); },
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-does]");
  if (button) DOES[button.dataset.does]?.(button);
  else hideUnlessFocused();
  const chosen = event.target.closest("[role=tab]");
  if (chosen?.dataset.tab) show(chosen.dataset.tab);
  if (chosen?.dataset.way) way(chosen.dataset.way);
});
$("#tabs").addEventListener("keydown", (event) => arrows(event, tabs(), (one) => show(one.dataset.tab, true)));
$("#ways").addEventListener("keydown", (event) => arrows(event, ways(), (one) => way(one.dataset.way, true)));
$("#way-paste").addEventListener("submit", paste);
$("#way-address").addEventListener("submit", fetchAddress);
$("#search")?.addEventListener("input", later(list, TYPED));
$("#way-list")?.addEventListener("submit", (event) => { event.preventDefault(); $("#found a")?.click(); });
for (const id of ["#model", "#k", "#precision"]) $(id).addEventListener("change", () => { if (id === "#model") precisions(); suggest(); });
$("#model").addEventListener("change", () => { if (visit) { thread.controls(visit.article, able(), later(sort, SETTLED)); sort(); } });
$("#split").addEventListener("change", findStarters);
$("#shortcuts").checked = shortcuts();
$("#shortcuts").addEventListener("change", ({ target }) => (target.checked ? stored.remove(localStorage, SHORTCUTS) : stored.set(localStorage, SHORTCUTS, false)));
for (const form of $$(".sign-out")) form.addEventListener("submit", () => remember(null));
outbox.events.addEventListener("change", progress);
WIDE.addEventListener("change", () => visit && show(tab));
addEventListener("scroll", hideUnlessFocused, { capture: true, passive: true });
addEventListener("popstate", start);

// ---- models

async function describeModels() {
  const before = named();
  models = (await ask("/v1/models")).models;
  const able = retrievers();
  $("#model").replaceChildren(...able.map((one) => el("option", { value: one.name, selected: one.name === before }, one.name)));
  $("#model-row").hidden = able.length < 2;
  precisions();
}
// Shares that a calibrated model can promise.
function precisions() {
  const calibrated = models.find((one) => one.name === named())?.calibrated;
  const most = calibrated?.precision ?? 0;
  const shares = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95].filter((share) => share <= most);
  $("#expected").hidden = !calibrated;
  if (calibrated) $("#expected").textContent = expected(calibrated);
  $("#precision-row").hidden = !shares.length;
  $("#precision").replaceChildren(el("option", { value: "" }, t("all")), ...shares.map((share) => el("option", { value: share }, t("% of 100 worth showing", Math.round(100 * share)))));
}
function expected({ labels: n, expected: { coverage, precision, low, high } }) {
  const range = low === null ? "" : ` ${t("It may be from % to %.", percent(low), percent(high))}`;
  return `${t("By % labels, for the surest % of articles the first suggestion is worth showing in % of cases.", number(n), percent(coverage), percent(precision))}${range}`;
}
// After training: other probabilities, and perhaps a precision to choose.
async function again() {
  await describeModels().catch(() => {});
  suggest();
}

// ---- start

function start() {
  const at = new URLSearchParams(location.search).get("article"), before = remembered();
  if (/^\d+$/.test(at ?? "") && page.articles) return go(Number(at), false);
  if (before && before.at === null) return open(before.article, null);
  choose(false);
}
way(page.articles ? "list" : "paste");
labels.begin();
decisions.begin();
outbox.changed();
outbox.send();
try {
  await describeModels();
} catch (error) {
  notice(error.message, " ", el("a", { href: "" }, t("Reload")));
}
start();
