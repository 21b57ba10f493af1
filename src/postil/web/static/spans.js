// Marking the parts of a passage with mouse, touch or keys. A passage is a row of units, words or single Chinese
// characters, each marked or not; the marks are the runs of marked units, so they are a union by construction.

const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const END = /[.!?。！？]/;

function split(text, lang) {
  const units = [];
  const add = (part) => units.push({ text: part, length: [...part].length });
  const pieces = globalThis.Intl?.Segmenter
    ? Array.from(new Intl.Segmenter(lang || undefined, { granularity: "word" }).segment(text), (one) => one.segment)
    : text.match(/\s+|[^\s]+/gu) ?? [];
  for (const piece of pieces) {
    if (HAN.test(piece)) for (const character of piece) add(character);
    else add(piece);
  }
  let at = 0;
  for (const unit of units) {
    unit.start = at;
    at += unit.length;
    unit.blank = !unit.text.trim();
    unit.on = false;
  }
  return units;
}

export function passage(task, draft) {
  const box = task.querySelector("#passage"), share = task.querySelector("#share"), mark = task.querySelector("#mark");
  const said = document.querySelector("#said");
  const units = split(box.textContent, box.lang);
  const size = (some) => some.reduce((sum, unit) => sum + [...unit.text.replace(/\s/gu, "")].length, 0);
  const whole = size(units);
  let at = -1, from = -1; // the keyboard's unit, and where its selection began

  box.textContent = "";
  units.forEach((unit, i) => {
    unit.node = document.createElement("span");
    unit.node.textContent = unit.text;
    unit.node.dataset.i = i;
    box.append(unit.node);
  });
  const stored = JSON.parse(box.dataset.spans || "[]");
  for (const [start, end] of draft.kept && (draft.unsaved || !stored.length) ? draft.kept : stored) {
    for (const unit of units) if (unit.start >= start && unit.start < end) unit.on = true;
  }

  function spans() {
    const found = [];
    let run = null;
    for (const unit of units) {
      if (!unit.on) run = null;
      else if (run) run[1] = unit.start + unit.length;
      else found.push((run = [unit.start, unit.start + unit.length]));
    }
    return found;
  }
  function draw() {
    const [low, high] = at < 0 ? [-1, -2] : [Math.min(at, from), Math.max(at, from)];
    units.forEach((unit, i) => {
      unit.node.className = `${unit.on ? "on" : ""} ${i >= low && i <= high ? "at" : ""}`.trim();
    });
    const n = whole ? Math.round((100 * size(units.filter((unit) => unit.on))) / whole) : 0;
    share.textContent = `${n} %`;
    if (at >= 0) units[at].node.scrollIntoView({ block: "nearest" });
  }
  // Marks from one unit to another, or takes the marks away where all of them are marked; no white space at the ends.
  function set(low, high, on) {
    while (low < high && units[low].blank) low++;
    while (high > low && units[high].blank) high--;
    const some = units.slice(low, high + 1);
    const to = on ?? !some.every((unit) => unit.on);
    for (const unit of some) unit.on = to;
    tidy();
    draft.keep(spans());
    draw();
    said.textContent = `${some.map((unit) => unit.text).join("")}: ${share.textContent}`;
  }
  // White space at the end of a mark is not marked.
  function tidy() {
    units.forEach((unit, i) => {
      if (unit.on && unit.blank && !(units[i - 1]?.on && units[i + 1]?.on)) unit.on = false;
    });
  }
  function all(on) {
    set(0, units.length - 1, on);
  }
  function chosen() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(box)) return null;
    const inside = units.flatMap(({ node: { firstChild: text } }, i) => {
      const apart = range.comparePoint(text, 0) > 0 || range.comparePoint(text, text.length) < 0;
      const { startContainer, startOffset, endContainer, endOffset } = range;
      const empty = (startContainer === text && startOffset === text.length) || (endContainer === text && endOffset === 0);
      return apart || empty ? [] : [i];
    });
    return inside.length ? [inside[0], inside.at(-1)] : null;
  }
  function markChosen() {
    const found = chosen();
    if (!found) return;
    getSelection().removeAllRanges();
    mark.hidden = true;
    at = from = -1;
    set(...found, true);
  }

  // A mouse marks when it is let go. Fingers move the ends of a selection first, so they get a button.
  let finger = false;
  box.addEventListener("pointerdown", (event) => { finger = event.pointerType !== "mouse"; });
  box.addEventListener("pointerup", (event) => {
    if (event.pointerType !== "mouse") return;
    setTimeout(() => {
      if (chosen()) return markChosen();
      const i = Number(event.target.dataset?.i ?? -1);
      if (i >= 0 && units[i].on) unmark(i);
    });
  });
  box.addEventListener("click", (event) => {
    const i = Number(event.target.dataset?.i ?? -1);
    if (finger && i >= 0 && units[i].on && !chosen()) unmark(i);
  });
  function unmark(i) {
    let low = i, high = i;
    while (units[low - 1]?.on) low--;
    while (units[high + 1]?.on) high++;
    set(low, high, false);
  }
  const look = () => {
    if (!box.isConnected) return document.removeEventListener("selectionchange", look);
    mark.hidden = !(finger && chosen());
  };
  document.addEventListener("selectionchange", look);
  mark.addEventListener("click", (event) => { event.preventDefault(); markChosen(); });
  task.querySelector("#all").addEventListener("click", (event) => { event.preventDefault(); all(true); });
  task.querySelector("#none").addEventListener("click", (event) => { event.preventDefault(); all(false); });

  function step(by, sentence) {
    let i = at < 0 ? (by > 0 ? -1 : units.length) : at;
    do i += by;
    while (units[i] && (units[i].blank || (sentence && i > 0 && !END.test(units[i - 1].text) && !END.test(units[i - 2]?.text ?? ""))));
    return Math.min(Math.max(i, 0), units.length - 1);
  }
  function key(event, save) {
    const name = event.key;
    if (event.target.closest("button, a") && (name === "Enter" || name === " ")) return false;
    if (name === "Enter") {
      if (event.repeat) return true;
      save();
    } else if (name === "a") all(true);
    else if (name === "x") all(false);
    else if (name === " ") { if (at >= 0) set(Math.min(at, from), Math.max(at, from)); }
    else if (/^Arrow/.test(name)) {
      at = step(name === "ArrowRight" || name === "ArrowDown" ? 1 : -1, name === "ArrowUp" || name === "ArrowDown");
      if (!event.shiftKey) from = at;
      else if (from < 0) from = at;
      draw();
      said.textContent = units.slice(Math.min(at, from), Math.max(at, from) + 1).map((unit) => unit.text).join("");
    } else if (name === "Escape") {
      at = from = -1;
      draw();
    } else return false;
    return true;
  }
  draw();
  return { spans, key };
}
