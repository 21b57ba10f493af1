"use strict";
{
  const box = document.querySelector("#words"), left = document.querySelector("#left");
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const cards = [...document.querySelectorAll(".card")].map((card) => [card, fold(card.textContent)]);
  const filter = () => {
    const words = fold(box.value).split(/\s+/).filter(Boolean);
    let n = 0;
    for (const [card, text] of cards) n += !(card.hidden = !words.every((word) => text.includes(word)));
    left.textContent = words.length ? `${n} of ${cards.length} pages` : "";
  };
  if (box) {
    box.closest("search").hidden = false;
    box.addEventListener("input", filter);
    if (box.value) filter();
  }
}
