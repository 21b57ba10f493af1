// What is shown and what was answered, as JSON, CSV or Markdown. No suggestion leaves the page without its label.
import { day, el, joined, page, t } from "./desk-dom.js";
import { decided } from "./desk-decisions.js";
import * as labels from "./desk-labels.js";
import { LABEL, votes } from "./desk-suggestions.js";

const COLUMNS = ["kind", "article", "title", "rank", "text", "label", "probability", "source", "url", "date", "votes", "answer", "reason"];

// Cells that a spreadsheet would read as a formula: a sign that begins one, after blanks, seen or not.
const FORMULA = /^'*(?![+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$)[\s\0-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*[=+\-@\t\r\n＝＋－＠﹦﹢﹣﹫]/i;
export function cell(value) {
  const words = `${value ?? ""}`;
  return `"${(FORMULA.test(words) ? `'${words}` : words).replaceAll('"', '""')}"`;
}

// Rows of a visit: suggestions with their answers, passages, and comments in their order.
function rows({ article, suggested, passages, ranked }) {
  const about = { article: article.id, title: article.title };
  return [
    ...(suggested?.suggestions ?? []).map((one) => {
      const [source] = one.provenance.sources ?? [], answer = labels.answer(article.id, one.text);
      return { kind: "suggestion", ...about, rank: one.rank, text: one.text, label: one.provenance.label, probability: one.probability,
        source: source?.title ?? source?.article, url: source?.url, date: source?.date, votes: source?.upvotes,
        answer: answer && (answer.show ? "show" : "do not show"), reason: answer?.reason };
    }),
    ...(passages ?? []).map((one) => ({ kind: "passage", ...about, rank: one.rank, text: one.text })),
    ...(ranked ?? []).map((one) => ({ kind: "comment", ...about, rank: one.rank, text: one.text, answer: decided(one.article, one.comment)?.decision, reason: (one.reasons ?? []).join("; ") })),
  ];
}
const csv = (visits) => "\ufeff" + [COLUMNS, ...visits.flatMap(rows).map((row) => COLUMNS.map((name) => row[name]))]
  .map((each) => each.map(cell).join(",")).join("\r\n") + "\r\n";

const json = (visits) => JSON.stringify(visits.map(({ article, suggested, passages, ranked }) => ({
  article: article.id, title: article.title, url: article.url, lang: article.lang,
  model: suggested?.model, model_hash: suggested?.model_hash,
  suggestions: suggested?.suggestions ?? [], filtered: suggested?.filtered ?? [], reason: suggested?.reason ?? null,
  labels: (suggested?.suggestions ?? []).flatMap(({ text }) => {
    const answer = labels.answer(article.id, text);
    return answer ? [{ article: article.id, text, show: answer.show, ...(answer.reason === null ? {} : { reason: answer.reason }), annotator: page.person }] : [];
  }),
  decisions: (ranked ?? []).flatMap((one) => {
    const found = decided(one.article, one.comment);
    return found ? [{ article: one.article, id: one.comment, text: one.text, decision: found.decision }] : [];
  }),
  passages: passages ?? [], comments: ranked ?? [],
})), null, 1) + "\n";

// Signs that mean something in Markdown, and HTML, become themselves.
export const markdownText = (words) => `${words}`.replace(/\s+/g, " ").trim().replace(/[\\`*_{}[\]()<>#+\-.!|~&:@]/g, "\\$&");
const address = (url) => encodeURI(decodable(url)).replace(/[()]/g, (sign) => (sign === "(" ? "%28" : "%29"));
function decodable(url) { try { return decodeURI(url); } catch { return url; } }
function markdown(visits) {
  return visits.map(({ article, suggested, passages, ranked }) => [
    `# ${markdownText(article.title)}`,
    ...(suggested?.suggestions.length ? [`## ${t("Suggestions")}`, ...suggested.suggestions.map((one) => {
      const [source] = one.provenance.sources ?? [], answer = labels.answer(article.id, one.text);
      const title = source && markdownText(source.title ?? source.article);
      const web = source?.url && /^https?:/i.test(source.url);
      const from = source && joined([web ? `[${title}](${address(source.url)})` : title, source.date && markdownText(day(source.date)), votes(source.upvotes)]);
      const said = answer && (answer.show ? t("Show") : joined([t("Do not show"), answer.reason && markdownText(t(answer.reason))]));
      return [`> ${markdownText(one.text)}`, `${LABEL}${from ? ` — ${from}` : ""}${said ? ` — **${said}**` : ""}`].join("\n>\n> ");
    })] : []),
    ...(passages?.length ? [`## ${t("Conversation starters")}`, passages.map((one) => `${one.rank}. ${markdownText(one.text)}`).join("\n")] : []),
    ...(ranked?.length ? [`## ${t("Thread")}`, ranked.map((one) => `${one.rank}. ${markdownText(one.text)}`).join("\n")] : []),
  ].join("\n\n")).join("\n\n") + "\n";
}

const KINDS = { json: ["application/json", json], csv: ["text/csv;charset=utf-8", csv], md: ["text/markdown;charset=utf-8", markdown] };
export const made = (kind, visits) => KINDS[kind][1](visits);
export function download(kind, visits) {
  const href = URL.createObjectURL(new Blob([made(kind, visits)], { type: KINDS[kind][0] }));
  const a = el("a", { href, download: `postil-desk-${new Date().toISOString().slice(0, 10)}.${kind}`, class: "aside" });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
