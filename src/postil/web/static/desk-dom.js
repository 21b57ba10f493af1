// Elements, words and small things that all parts of the desk use. A text from outside gets into the page as a text node
// or an attribute only, never as markup.
export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

export const page = JSON.parse($("#page").textContent);

// A sentence in the reader's language; each % takes the next value.
export function t(sentence, ...values) {
  let at = 0;
  return (page.words[sentence] ?? sentence).replace(/%/g, () => values[at++] ?? "%");
}
// The same with an element in the place of the one %.
export function around(sentence, element) {
  const [before, after] = (page.words[sentence] ?? sentence).split("%");
  return [before, element, after];
}
export const count = (n, one, many) => (n === 1 ? t(one) : t(many, number(n)));
export const number = (n) => n.toLocaleString(page.lang);
export const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
export const quoted = (text) => t("“%”", text);

// Makes an element. Names of attributes as in HTML; `on` holds listeners, null and false leave an attribute out.
export function el(name, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "circle", "g"].includes(name) || (name === "text" && "y" in attributes);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// A text of a reader or a site, in its own language and direction.
export function text(name, content, attributes = {}) {
  const lang = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/.test(attributes.lang ?? "") ? attributes.lang : null;
  return el(name, { dir: "auto", ...attributes, lang }, content);
}

// A link, where the address is one of the web; else its words alone.
export function link(address, words, attributes = {}) {
  const href = webAddress(address);
  if (!href) return el("span", attributes, words);
  return el("a", { ...attributes, href, target: "_blank", rel: "noopener noreferrer" }, words);
}
export function webAddress(address) {
  try {
    const found = new URL(address);
    return ["http:", "https:"].includes(found.protocol) ? found.href : null;
  } catch { return null; }
}

// The day of a date in the reader's words; what is no date stays as it is.
export function day(date) {
  const found = new Date(date);
  if (Number.isNaN(found.getTime())) return String(date);
  return found.toLocaleDateString(page.lang, { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });
}

export const key = (word) => el("kbd", { "aria-hidden": "true" }, word);
export const sentence = (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?。]$/.test(words) ? "" : "."}`;
export const joined = (parts) => parts.filter(Boolean).join(" · ");

let spoken = 0;
// Says a sentence to screen readers; twice the same one is two announcements.
export function say(sentence) {
  $("#said").textContent = sentence + (spoken++ % 2 ? "\u00a0" : "");
}
export function notice(...content) {
  $("#notice p").replaceChildren(...content);
  $("#notice").hidden = !content.length;
}

// Storage of the browser, which may be full or forbidden.
export const stored = {
  get(store, name) { try { return JSON.parse(store.getItem(name)); } catch { return null; } },
  set(store, name, value) { try { store.setItem(name, JSON.stringify(value)); return true; } catch { return false; } },
  remove(store, name) { try { store.removeItem(name); } catch { /* there is none */ } },
};

// Copies a text, also where the page came over plain HTTP, and browsers have no clipboard for it.
export async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    const before = document.activeElement;
    const area = el("textarea", { class: "aside", readonly: true, "aria-hidden": "true" });
    area.value = words;
    document.body.append(area);
    area.select();
    const did = document.execCommand("copy");
    area.remove();
    before?.focus?.({ preventScroll: true });
    return did;
  }
}
