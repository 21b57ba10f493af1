"use strict";
{
  const one = (selector) => document.querySelector(selector);
  const tip = one("#tip"), now = one("#now"), keys = one("#keys"), list = one("#list");
  const ranks = [...document.querySelectorAll("a.to")].map((link) => link.hash.slice(9));  // the best first
  let at = -1, shown = null, leaving = 0;

  const rankOf = (node) => node.closest?.("mark")?.className.match(/^p(\d+)/)?.[1];

  function place(mark) {
    const lines = [...mark.getClientRects()].filter((box) => box.bottom > 0 && box.top < innerHeight);
    const first = lines[0] ?? mark.getBoundingClientRect(), last = lines.at(-1) ?? first;
    const below = last.bottom + 8, above = first.top - tip.offsetHeight - 8;
    const floor = innerHeight - tip.offsetHeight - (innerWidth < 992 ? 72 : 8);
    tip.style.top = `${Math.max(8, below <= floor || above < 8 ? Math.min(below, floor) : above)}px`;
    tip.style.left = `${Math.max(12, Math.min(last.left, innerWidth - tip.offsetWidth - 12))}px`;
  }
  function show(mark) {
    clearTimeout(leaving);
    const rank = rankOf(mark), why = one(`#why-${rank}`);
    if (!why) return;
    tip.replaceChildren(...[...why.cloneNode(true).childNodes]);
    tip.hidden = false;
    shown = mark;
    place(mark);
  }
  function hide() {
    tip.hidden = true;
    shown = null;
  }

  addEventListener("pointerover", ({ target, pointerType }) => {
    if (pointerType === "touch") return;
    if (target.closest?.("#tip")) clearTimeout(leaving);
    else if (rankOf(target)) show(target.closest("mark"));
  });
  addEventListener("pointerout", ({ target, relatedTarget, pointerType }) => {
    if (pointerType === "touch" || !(rankOf(target) || target.closest?.("#tip"))) return;
    if (relatedTarget && rankOf(relatedTarget) && rankOf(relatedTarget) === rankOf(target)) return;
    leaving = setTimeout(hide, 250);
  });
  addEventListener("focusin", ({ target }) => rankOf(target) ? show(target.closest("mark")) : hide());
  addEventListener("click", ({ target }) => {
    if (target.closest?.("a.to")) return;
    if (rankOf(target) && !target.closest("a")) show(target.closest("mark"));
    else if (!target.closest?.("#tip, button")) hide();
  });
  addEventListener("scroll", () => shown && place(shown), { passive: true });
  addEventListener("resize", () => shown && place(shown));

  function current(rank) {
    at = ranks.indexOf(rank);
    for (const node of document.querySelectorAll(".now")) node.classList.remove("now");
    for (const node of document.querySelectorAll(`mark.p${rank}, #item-${rank}`)) node.classList.add("now");
    now.textContent = `${at + 1} of ${ranks.length}`;
    const item = one(`#item-${rank}`);
    if (list.scrollHeight > list.clientHeight) list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
  }
  function go(rank) {
    const mark = one(`#passage-${rank}`);
    if (!mark) return;
    current(rank);
    mark.scrollIntoView({ block: "center" });
    requestAnimationFrame(() => mark.scrollIntoView({ block: "center" }));  // what was skipped has its height now
    mark.querySelector(".badge").focus({ preventScroll: true });
  }
  function step(by) {
    const next = at < 0 && by < 0 ? ranks.length - 1 : (at + by + ranks.length) % ranks.length;
    history.replaceState(null, "", `#passage-${ranks[next]}`);
    go(ranks[next]);
  }
  function follow() {
    const [, kind, rank] = location.hash.match(/^#(passage|item)-(\d+)$/) ?? [];
    if (kind === "passage") go(rank);
    if (kind === "item") {
      list.open = true;
      one(`#item-${rank} a`)?.focus();
    }
  }

  if (now) {
    now.parentNode.hidden = false;
    for (const button of document.querySelectorAll("[data-step]")) button.onclick = () => step(+button.dataset.step);
    if (innerWidth < 992 && ranks.length > 5) list.open = false;
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    if (!now || !keys.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { j: 1, n: 1, k: -1, p: -1 }[event.key];
    if (by) step(by);
  });
  addEventListener("hashchange", follow);
  addEventListener("click", ({ target }) => target.closest?.("a.to, a.badge") && setTimeout(follow));  // also the same again
  addEventListener("beforeprint", () => { if (list) list.open = true; });
  addEventListener("load", () => setTimeout(follow));  // the browser itself goes to the anchor first
}
