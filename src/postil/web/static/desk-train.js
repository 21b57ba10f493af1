// Training on the labels: what the filter would give, as a sentence, a picture and a table.
import { ask, failed, waiting } from "./desk-api.js";
import { $, count, el, number, percent, say, sentence, t, text } from "./desk-dom.js";
import * as labels from "./desk-labels.js";
import * as outbox from "./desk-outbox.js";

const MINUTES = 10;

export function ready() {
  const n = labels.totals.stored, left = outbox.waiting();
  $("#train-body").replaceChildren(
    el("p", {}, t("The model learns from the labels of all editors which suggestions are worth showing. It is tried on articles that it did not learn from, and takes the place of the model as it is, for everybody.")),
    el("p", {}, count(n, "One label is stored.", "% labels are stored."), " ", t("A useful filter needs some 200, of 60 articles or more.")),
    ...(left ? [el("p", { class: "warn" }, outbox.sentence())] : []));
  $("#train-go").hidden = false;
  $("#train-go").disabled = !n;
}

export async function train(model, after) {
  const body = $("#train-body");
  $("#train-go").hidden = true;
  body.replaceChildren(waiting(t("Training … this takes a moment; labeling goes on meanwhile.")));
  try {
    await outbox.send();
    const found = await ask("/v1/calibrate", { body: model ? { model } : {}, method: "POST", seconds: 60 * MINUTES });
    body.replaceChildren(...result(found));
    say(t("Training is done."));
    if (!found.reason) after();
  } catch (error) {
    body.replaceChildren(failed(error, () => train(model, after)));
  }
}

function result(found) {
  const seen = el("p", { class: "quiet" }, t("Labels: %, of them to show: %; articles: %.", number(found.labels), number(found.shown), number(found.articles)));
  const notes = (found.notes ?? []).map((note) => text("li", note, { lang: "en" }));
  const more = notes.length ? [el("ul", { class: "notes" }, ...notes)] : [];
  const points = found.points ?? [];
  if (found.reason) {
    return [el("h3", {}, t("No filter was learned; the model is as it was.")), text("p", sentence(found.reason), { lang: "en" }), seen, ...more];
  }
  // The widest coverage with the highest precision among those that leave a choice.
  const best = points.reduce((one, other) => (other.precision >= one.precision ? other : one));
  return [
    el("h3", {}, t("Of the first suggestions, % are worth showing where % of the articles get one.", percent(best.precision), percent(best.coverage))),
    el("p", { class: "quiet" }, t("It may be from % to %, as these are % articles.", percent(best.low), percent(best.high), number(best.articles)),
      found.first_rate ? ` ${t("Without the filter % are.", percent(found.first_rate.value))}` : ""),
    found.further && el("p", { class: "quiet" }, t("% more labels are expected to change the share worth showing of the surest three tenths of the articles by % points.", number(found.further.labels), signed(100 * found.further.gain.value))),
    picture(points),
    table(points), seen, ...more,
  ];
}

const signed = (points) => `${Math.round(points) < 0 ? "−" : "+"}${number(Math.abs(Math.round(points)))}`;

// Precision against coverage with its interval; the table beside it says the same.
function picture(points) {
  const [width, height, left, bottom] = [480, 240, 44, 36];
  const x = (share) => left + share * (width - left - 12), y = (share) => 12 + (1 - share) * (height - bottom - 12);
  const at = (share, value) => `${x(share).toFixed(1)},${y(value).toFixed(1)}`;
  const band = [...points.map((one) => at(one.coverage, one.high)),
    ...points.map((one) => at(one.coverage, one.low)).reverse()];
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return el("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": t("Precision against coverage; the numbers are in the table.") },
    ...ticks.flatMap((share) => [
      el("line", { class: "grid", x1: left, x2: width - 12, y1: y(share), y2: y(share) }),
      el("text", { class: "tick end", x: left - 8, y: y(share) + 4 }, percent(share)),
      el("text", { class: "tick middle", x: x(share), y: height - bottom + 20 }, percent(share)),
    ]),
    el("text", { class: "tick start", x: left, y: 8 }, t("worth showing")),
    el("text", { class: "tick end", x: width - 12, y: height - 2 }, t("articles with a suggestion")),
    el("path", { class: "band", d: `M${band.join("L")}Z` }),
    el("path", { class: "curve", d: `M${points.map((one) => at(one.coverage, one.precision)).join("L")}` }),
    ...points.map((one) => el("circle", { class: "point", cx: x(one.coverage), cy: y(one.precision), r: 4 })));
}
function table(points) {
  return el("details", {}, el("summary", {}, t("Table")), el("table", {},
    el("thead", {}, el("tr", {}, ...[t("Articles with a suggestion"), t("Worth showing"), t("95 % interval"), t("Articles")].map((words) => el("th", { scope: "col" }, words)))),
    el("tbody", {}, ...points.map((one) => el("tr", {}, el("th", { scope: "row" }, percent(one.coverage)), el("td", {}, percent(one.precision)), el("td", {}, t("% to %", percent(one.low), percent(one.high))), el("td", {}, number(one.articles)))))));
}
