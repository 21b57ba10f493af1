// The article: its text with the interesting passages marked, and the same passages as conversation starters.
import { ask, failed, waiting } from "./desk-api.js";
import { $, count, day, el, joined, link, page, quoted, stored, t, text } from "./desk-dom.js";

const MOST = 5; // passages
const SHARE = 3; // one passage of so many sentences or paragraphs: where all is marked, nothing is
const ENDS = { sentences: /[.!?…]["'”’»)]*(?=\s|$)|[。！？]/g, paragraphs: /[^\n]+/g };

// Index in UTF-16, as scripts count, of each code point, as the server counts.
function units(content) {
  if (!/[\ud800-\udfff]/.test(content)) return (index) => Math.min(Math.max(index, 0), content.length);
  const starts = [0];
  for (const point of content) starts.push(starts.at(-1) + point.length);
  return (index) => starts[Math.min(Math.max(index, 0), starts.length - 1)];
}
const plain = (words) => words.replace(/\s+/g, " ").trim();

// Passages with their place in the text; one that is not where the server says is looked for, and has no place else.
export function placed(content, passages) {
  const unit = units(content);
  return passages.map((one) => {
    let start = unit(one.start ?? -1), end = unit(one.end ?? -1);
    if (plain(content.slice(start, end)) !== plain(one.text)) {
      start = content.indexOf(one.text);
      end = start + one.text.length;
    }
    return start < 0 || end <= start ? { ...one, start: -1, end: -1 } : { ...one, start, end };
  });
}

const reasons = (one) => (one.reasons ?? []).map((each) => (typeof each === "string" ? each : each.unit)).filter(Boolean);
const why = (one) => {
  const words = reasons(one).map(quoted).join(t(", "));
  const place = t("Passage % of the most interesting ones.", one.rank);
  return words ? `${place} ${t("What speaks for it: %.", words)}` : place;
};

export function head(article, actions) {
  const comments = article.comments?.length ?? 0;
  const about = joined([
    article.category, article.date && day(article.date), comments && count(comments, "One comment", "% comments"),
  ]);
  $("#head").replaceChildren(
    el("p", { class: "where" }, about, about && article.url ? " · " : "", article.url ? link(article.url, t("Open the page")) : "", actions),
    text("h1", article.title, { id: "title", tabindex: "-1", lang: article.lang }),
  );
}

// Paragraphs of the text, with each passage marked; a passage over several paragraphs has a mark in each.
export function body(article, passages = []) {
  const content = article.content ?? "";
  const marks = passages.filter((one) => one.start >= 0).sort((one, other) => one.start - other.start);
  const blocks = [];
  for (const { 0: block, index } of content.matchAll(/[^\n]+/g)) {
    if (!block.trim()) continue;
    const parts = [];
    let at = index;
    const end = index + block.length;
    for (const one of marks) {
      const from = Math.max(one.start, at), to = Math.min(one.end, end);
      if (from >= to || !content.slice(from, to).trim()) continue;
      parts.push(content.slice(at, from), mark(one, content.slice(from, to), one.start >= index));
      at = to;
    }
    blocks.push(el("p", {}, ...parts, content.slice(at, end)));
  }
  const none = !blocks.length && el("p", { class: "empty" }, t("This article has a title and no text."));
  $("#text").replaceChildren(...(none ? [none] : blocks));
  const { lang } = text("p", "", { lang: article.lang });
  if (lang) $("#text").lang = lang;
  else $("#text").removeAttribute("lang");
}
function mark(one, words, first) {
  const id = `why-${one.rank}`;
  const made = el("mark", { tabindex: "0", "data-rank": one.rank, "aria-describedby": id, id: first ? `passage-${one.rank}` : null }, words);
  const show = () => explain(made, id);
  for (const event of ["pointerenter", "focus", "click"]) made.addEventListener(event, show);
  made.addEventListener("pointerleave", hideUnlessFocused);
  made.addEventListener("blur", hide);
  return made;
}

// The reasons of a passage beside it, as long as it is pointed at or focused; Escape hides them.
function explain(made, id) {
  const tip = $("#tip");
  tip.textContent = $(`#${id}`).textContent;
  tip.hidden = false;
  const frame = made.getClientRects()[0], size = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, frame.left), innerWidth - size.width - 8);
  const above = frame.top - size.height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : frame.bottom + 8}px`;
}
export function hide() {
  $("#tip").hidden = true;
}
// What is focused keeps its reasons, also while it scrolls.
export function hideUnlessFocused() {
  const focused = document.activeElement, frame = focused?.matches("mark") && focused.getClientRects()[0];
  if (frame && frame.bottom > 0 && frame.top < innerHeight) explain(focused, focused.getAttribute("aria-describedby"));
  else hide();
}

// Asks for the passages of an article and shows them as a list; returns them, or null.
export async function starters(article, { split, signal, jump, again }) {
  const list = $("#starters-list");
  if (!article.content?.trim()) {
    list.replaceChildren(el("p", { class: "empty" }, t("The article has no text to find passages in.")));
    return [];
  }
  list.replaceChildren(waiting(t("Looking for passages …")));
  try {
    const units = article.content.match(ENDS[split])?.length ?? 1;
    const k = Math.min(MOST, Math.max(1, Math.round(units / SHARE)));
    const body = { text: article.content, k, split, ...(article.lang ? { lang: article.lang } : {}) };
    const said = await ask("/v1/interesting", { body, signal });
    return signal.aborted ? null : show(article, placed(article.content, said.passages ?? []), jump);
  } catch (error) {
    if (!signal.aborted) list.replaceChildren(failed(error, again));
    return null;
  }
}
function show(article, passages, jump) {
  const list = $("#starters-list");
  if (!passages.length) {
    list.replaceChildren(el("p", { class: "empty" }, t("No passage stands out: the text is too short.")));
    return passages;
  }
  const items = passages.map((one) => {
    const words = reasons(one);
    return el("li", { class: "item starter", tabindex: "-1", id: `starter-${one.rank}` },
      el("span", { class: "rank", "aria-hidden": "true" }, one.rank),
      text("p", one.text.trim(), { class: "said", lang: article.lang }),
      words.length > 0 && el("div", { class: "common" }, el("span", { id: `common-${one.rank}` }, t("What speaks for it")),
        el("ul", { class: "chips", "aria-labelledby": `common-${one.rank}` }, ...words.map((word) => text("li", word, { lang: article.lang })))),
      el("p", { class: "aside", id: `why-${one.rank}` }, why(one)),
      one.start >= 0 ? el("a", { class: "jump", href: `#passage-${one.rank}`, on: { click: (event) => { event.preventDefault(); jump(one.rank); } } },
        t("Show in the article"), el("span", { class: "aside" }, ` (${one.rank})`)) : null);
  });
  list.replaceChildren(el("ol", { class: "items" }, ...items));
  return passages;
}

// What an editor chose among the articles is kept as long as the window, so that a reload loses nothing.
const KEPT = `postil.desk.article.${page.person}`;
export const remembered = () => stored.get(sessionStorage, KEPT);
export const remember = (article) => (article ? stored.set(sessionStorage, KEPT, article) : stored.remove(sessionStorage, KEPT));
