// Several aspects of one item. A digit grades the aspect in turn and moves on; the last one that was missing saves the
// item. After going back the grades that were given are there again; then Enter, or the last aspect, saves them.
export function aspects(task, save, draft) {
  const groups = [...task.querySelectorAll("fieldset.aspect")];
  const radios = (group) => [...group.querySelectorAll("input")];
  const checked = (group) => radios(group).find((one) => one.checked);
  const missing = () => groups.findIndex((group) => !checked(group));
  let turn = 0;

  function go(place) {
    groups[turn].classList.remove("now");
    turn = place;
    groups[turn].classList.add("now");
    groups[turn].scrollIntoView({ block: "nearest" });
    const inside = groups.some((group) => group.contains(document.activeElement));
    if (inside) (checked(groups[turn]) ?? radios(groups[turn])[0]).focus({ preventScroll: true });
  }
  function grade(radio) {
    const before = missing();
    radio.checked = true;
    keep();
    const after = missing();
    if (after < 0 && (before >= 0 || turn === groups.length - 1)) save();
    else if (after < 0) go(turn + 1);
    else {
      const later = groups.findIndex((group, place) => place > turn && !checked(group));
      go(later < 0 ? after : later);
    }
  }
  const grades = () => Object.fromEntries(groups.map(checked).filter(Boolean).map((one) => [one.name, one.value]));
  const keep = () => draft.keep(grades());
  task.addEventListener("change", keep);
  for (const group of groups) {
    const radio = draft.kept && radios(group).find((one) => one.value === draft.kept[one.name]);
    if (radio && (draft.unsaved || !checked(group))) radio.checked = true;
    group.addEventListener("focusin", () => { if (group !== groups[turn]) go(groups.indexOf(group)); });
    // Arrow keys choose within a group as they do everywhere; a click on a label goes on as a digit does.
    group.addEventListener("click", (event) => {
      const label = event.target.closest("label");
      if (!label || event.target.matches("input")) return;
      event.preventDefault();
      go(groups.indexOf(group));
      grade(label.querySelector("input"));
    });
  }
  go(Math.max(0, missing()));

  return {
    // The fields of the form; null while a grade is missing, which then is the next in turn.
    fields() {
      if (missing() >= 0) { go(missing()); return null; }
      return grades();
    },
    key(event, number) {
      const radio = number && radios(groups[turn]).find((one) => one.value === number);
      if (radio) grade(radio);
      else if (event.key === "Enter" && !event.target.matches("button, a, summary")) save();
      else return Boolean(number);
      return true;
    },
  };
}
