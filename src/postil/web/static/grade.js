// Rating by keys. The next tasks are loaded in advance; an annotation that cannot be sent is stored in this browser and
// sent again under the same idempotency key, so that the server stores it once.
import { aspects } from "./aspects.js";
import { passage } from "./spans.js";

const $ = (selector, root = document) => root.querySelector(selector);
const words = $("#words").dataset;
const { person, csrf } = document.body.dataset;
const KEPT = `postil.${person}`;
const AHEAD = 2; // tasks
const GUARD = 200; // ms: a key pressed twice by accident does not rate the next item
const SLOW = 400; // ms
const MAX_PAUSE = 15000; // ms between two attempts
const AGAIN = 30000; // ms until an answer to a closed campaign is sent again

let ahead = [...document.querySelectorAll("template.ahead")].map((one) => one.content.firstElementChild);
let shown = performance.now(), hidden = 0, away = null;
let sending = null, attempts = 0, timer = 0, slow = 0, look = 0, marks = null, several = null, memory = null;
let undone = Promise.resolve(), undoing = 0;
const drafts = new Map(); // by assignment, as long as the page lives: the grades or marks on the screen, and whether they were saved

// Annotations that the server has not stored yet. Without storage in the browser they live as long as the page.
function kept() {
  if (memory) return memory;
  try { return JSON.parse(localStorage.getItem(KEPT) ?? "[]"); } catch { return []; }
}
function keep(list) {
  memory = null;
  try {
    if (list.length) localStorage.setItem(KEPT, JSON.stringify(list));
    else localStorage.removeItem(KEPT);
  } catch { memory = list; }
}

function state(kind, text) {
  const sign = $("#state");
  sign.className = `state ${kind}`;
  if (sign.textContent !== text) sign.textContent = text;
}
function notice(text) {
  $("#notice p").textContent = text;
  $("#notice").hidden = !text;
}
function waiting(refused = "") {
  const n = kept().length;
  clearTimeout(slow);
  state("kept", refused || (n === 1 ? words.keptOne : n ? words.keptMany.replace("%", n) : words.offline));
}

function element(html) {
  const template = document.createElement("template");
  template.innerHTML = html; // from our own server, which escapes every text
  return template.content.firstElementChild;
}
function show(task) {
  $("#task").replaceWith(task);
  begin();
  $("#asked")?.focus({ preventScroll: true });
}
function begin() {
  shown = performance.now();
  hidden = 0;
  away = document.hidden ? shown : null;
  const task = $("#task"), draft = draftOf(task.dataset.assignment);
  marks = $("#passage") ? passage(task, draft) : null;
  several = $("#task .aspects") ? aspects(task, save, draft) : null;
  watch();
  overflow();
}
// What was chosen for an item before: it is there again when one comes back, saved or not.
function draftOf(assignment) {
  const { value, saved } = drafts.get(assignment) ?? { saved: true };
  return { kept: value, unsaved: !saved, keep: (now) => drafts.set(assignment, { value: now, saved: false }) };
}
// Where little room is left to the article, a button gives it the place of the text and the grades, and back.
function overflow() {
  const button = $("#enlarge"), pane = $("#article");
  if (button) button.hidden = pane.scrollHeight <= pane.clientHeight && !$("#task.reading");
}
function enlarge() {
  const reading = $("#task").classList.toggle("reading");
  $("#enlarge").setAttribute("aria-expanded", reading);
  if (reading) $("#article").focus({ preventScroll: true });
}
// The page without a task looks again by itself.
function watch() {
  clearTimeout(look);
  const again = 1000 * $("#task").dataset.again;
  if (again > 0) look = setTimeout(() => now().then(watch), again);
}
function seconds() {
  return ((performance.now() - shown - hidden) / 1000).toFixed(2);
}
function progress({ done, skipped, total }) {
  const bar = $("#far progress");
  bar.max = total;
  bar.value = done + skipped;
  $("#far span").textContent = words.far.replace("%", done + skipped).replace("%", total);
}

async function ask(path, fields) {
  const body = fields && new URLSearchParams({ ...fields, csrf });
  const options = { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(20000) };
  const answer = await fetch(path, body ? { ...options, method: "POST", body } : options);
  if (answer.status === 408 || answer.status === 431) throw new Error("the server did not read it"); // treated as offline
  const said = await answer.json();
  return { status: answer.status, said };
}

// Sends stored annotations in order, one at a time: undo and revisions depend on the order. True if none is left.
async function send() {
  sending ??= deliver().finally(() => { sending = null; });
  const all = await sending;
  return all && kept().length ? send() : all; // another was stored while the last one was being sent
}
async function deliver() {
  clearTimeout(timer);
  let stale = false, rest = null;
  for (let first; (first = kept()[0]); ) {
    const { path, ...fields } = first, after = last();
    let answer;
    try {
      answer = await ask(path, { ...fields, after, want: AHEAD - ahead.length });
    } catch {
      return again();
    }
    const { status, said } = answer;
    if (status >= 500 || status === 429) return again();
    if (status === 401 || status === 403) {
      waiting(words.signedOut);
      notice(said.problem);
      return false; // stored; it is sent after signing in again
    }
    if (status === 423) {
      waiting(words.closed);
      notice(said.problem);
      timer = setTimeout(send, AGAIN); // stored; it is sent when a lead reopens the campaign
      if (!$("#task").dataset.again) now(true);
      return false;
    }
    keep(kept().filter((one) => one.idempotency_key !== first.idempotency_key));
    attempts = 0;
    if (status >= 400) {
      notice(said.problem);
      stale = true;
    } else {
      progress(said.progress);
      if (said.label) learn(said.label);
      rest = said.task ? said : null; // no new item is handed out
      if (!rest && after === last()) ahead.push(...said.ahead.map(element));
    }
  }
  if (rest) here(rest);
  else if (stale || !$("#task").dataset.position) await now();
  clearTimeout(slow);
  if (!$("#task.waiting")) state("saved", words.saved);
  return true;
}
// Feedback on a gold item lies above the next one, whose time begins when it is closed. Several may have waited.
function learn(html) {
  const dialog = $("#label");
  $("div", dialog).append(element(html));
  if (dialog.open) return;
  dialog.showModal();
  dialog.addEventListener("close", () => {
    $("div", dialog).replaceChildren();
    shown = performance.now();
    hidden = 0;
  }, { once: true });
}
function again() {
  waiting();
  clearTimeout(timer);
  timer = setTimeout(send, Math.min(MAX_PAUSE, 500 * 2 ** attempts++));
  return false;
}
// Position of the last task that is loaded.
function last() {
  return Number((ahead.at(-1) ?? $("#task")).dataset.position ?? -1);
}
function here(said) {
  ahead = said.ahead.map(element);
  progress(said.progress);
  const task = element(said.task);
  if (!task.isEqualNode($("#task"))) show(task);
}
// Loads the next task from the server.
async function now(closed = false) {
  try {
    const { status, said } = await ask("/task");
    if (status !== 200) notice(said.problem);
    else if (closed || !kept().length) here(said); // else an annotation was added meanwhile, and the response is stale
  } catch {
    again();
  }
}

// A key that came too soon to be meant for the item on the screen, or while the item before it is on its way.
const early = () => undoing > 0 || performance.now() - shown < GUARD;

function answer(path, fields) {
  const task = $("#task").dataset;
  if (!task.assignment || early()) return;
  const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  const { assignment, revision } = task, graded = fields.grade && !$("#task.pair");
  if (drafts.has(assignment)) drafts.get(assignment).saved = true;
  keep([...kept(), { path, assignment, revision, idempotency_key: key.join(""), seconds: seconds(), ...fields }]);
  notice("");
  $("#state").classList.remove("saved"); // the words change when it takes long enough to read them
  clearTimeout(slow);
  slow = setTimeout(() => state("", words.saving), SLOW);
  show(ahead.shift() ?? element($("#waiting").innerHTML));
  $("#said").textContent = graded ? words.graded.replace("%", fields.grade) : words.saved;
  send();
}
function save() {
  if (early()) return;
  const fields = several ? several.fields() : { spans: JSON.stringify(marks.spans()) };
  if (fields) answer("/rate", fields);
}
const grade = (value) => answer("/rate", { grade: value });
const skip = (reason) => { $("#skip").close(); answer("/skip", { reason }); };

// Goes back one item for each time it was asked to.
function back() {
  undoing += 1;
  undone = undone.then(undo).finally(() => { undoing -= 1; });
}
async function undo() {
  if (!(await send())) return notice(words.backOffline);
  try {
    const { status, said } = await ask("/undo", {});
    if (status !== 200) return notice(said.problem);
    notice("");
    here(said);
    $("#said").textContent = words.back;
  } catch {
    again();
    notice(words.backOffline);
  }
}

function toggle(id) {
  const dialog = $(id);
  if (dialog.open) dialog.close();
  else {
    document.querySelectorAll("dialog[open]").forEach((one) => one.close());
    dialog.showModal();
  }
}

const digit = (event) => (/^[0-9]$/.test(event.key) ? event.key : /^(?:Digit|Numpad)([0-9])$/.exec(event.code)?.[1]);
// Choices of a pair have keys of their own, since their values go by the texts and not by the sides.
const arrows = { ArrowLeft: 1, ArrowDown: 2, ArrowRight: 3 };
const choice = (event) => {
  if (!$("#task.pair")) return null;
  const number = digit(event) ?? arrows[event.key];
  return number ? $(`#task button[name=grade][data-key="${number}"]`) : null;
};
const scroll = { ArrowDown: 60, ArrowUp: -60, PageDown: 0.85, PageUp: -0.85, " ": 0.85 };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.matches("input[type=text]")) return;
  const key = event.key.toLowerCase(), dialog = $("dialog[open]"), number = digit(event);
  let did = true;
  if (key === "?" || key === "？") toggle("#keys");
  else if (key === "e") toggle("#rubric");
  else if (dialog?.id === "skip" && number) dialog.querySelector(`[data-key="${number}"]`)?.click();
  else if (dialog) did = false;
  else if (choice(event)) {
    if (!event.repeat) grade(choice(event).value);
  } else if ($("#task.pair") && number) did = false;
  else if (event.repeat && (number || "us".includes(key))) did = true; // a key held down is pressed once
  else if (several && event.target.matches("input") && (event.key.startsWith("Arrow") || event.key === " ")) did = false;
  else if (several && number && early()) did = true;
  else if (several?.key(event, number)) did = true;
  else if (number && $(`#task button[name=grade][value="${number}"]`)) grade(number);
  else if (key === "u") back();
  else if (key === "s" && $("#task").dataset.assignment) toggle("#skip");
  else if (marks?.key(event, save)) did = true;
  else if (key in scroll || event.key in scroll) {
    const by = scroll[event.key], panes = [$("#article"), $("#task blockquote")].filter(Boolean);
    const pane = panes.find((one) => one.scrollHeight > one.clientHeight);
    if (!pane || panes.includes(event.target) || event.target.matches("button, a, summary") && event.key === " ") did = false;
    else pane.scrollBy(0, Math.abs(by) < 1 ? by * pane.clientHeight : by);
  } else did = false;
  if (did) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const does = {
    grade: () => grade(button.value),
    save: () => save(),
    back: () => back(),
    skip: () => toggle("#skip"),
    keys: () => toggle("#keys"),
    rubric: () => toggle("#rubric"),
    close: () => button.closest("dialog").close(),
    reason: () => skip(button.value),
    other: () => { const text = $("#other").value.trim(); if (text) { $("#other").value = ""; skip(text); } else $("#other").focus(); },
    enlarge: () => enlarge(),
    dismiss: () => notice(""),
  }[button.dataset.does];
  if (does) {
    event.preventDefault();
    does();
  }
});
$("#skip form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  $("#skip [data-does=other]").click();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) away = performance.now();
  else if (away !== null) {
    hidden += performance.now() - Math.max(away, shown);
    away = null;
  }
});
addEventListener("resize", overflow);
addEventListener("online", () => { attempts = 0; send(); });
addEventListener("offline", () => waiting());

begin();
if (kept().length) {
  // Annotations of an earlier visit go first; then the next task is loaded.
  send().then((all) => all && now());
} else state("saved", words.saved);
