// A photo, larger, and where in it each word of the question is seen.
import { ask, percent } from "./asking.js";
import { Heat } from "./heat.js";

const NOTES = {
  attention: "Bright: what in the photo speaks for the word, and so adds to the score. Words with more weight have a " +
    "stronger line. “Attention” shows where the model looks, whatever the question.",
  transport: "Bright: where the model's transport plan sends the word. Words with more weight have a stronger line.",
};
const PLACES = ["at the top left", "at the top", "at the top right", "on the left", "in the middle", "on the right",
  "at the bottom left", "at the bottom", "at the bottom right"];

export class Closer {
  constructor(dialog) {
    this.dialog = dialog;
    this.find = (id) => dialog.querySelector(`#${id}`);
    this.heat = new Heat(this.find("heat"));
    this.find("close").addEventListener("click", () => dialog.close());
    this.find("before").addEventListener("click", () => this.show(this.place - 1));
    this.find("after").addEventListener("click", () => this.show(this.place + 1));
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => this.asking?.abort());
    dialog.addEventListener("keydown", (event) => {
      const step = { PageUp: -1, PageDown: 1 }[event.key];
      if (step) { event.preventDefault(); this.show(this.place + step); }
    });
    this.find("photo").addEventListener("load", ({ target }) => {
      target.parentElement.style.setProperty("--ratio", target.naturalWidth / target.naturalHeight);
    });
    this.find("photo").addEventListener("error", () => { this.find("where").textContent = "The photo can't be opened."; });
  }

  open(answer, place, explains) {
    this.answer = answer;
    this.explains = explains;
    this.dialog.showModal();
    this.show(place);
    this.find("close").focus();
  }

  show(place) {
    const result = this.answer.results[place];
    if (!result) return;
    this.asking?.abort();
    this.place = place;
    this.find("before").disabled = place === 0;
    this.find("after").disabled = place === this.answer.results.length - 1;
    this.find("name").textContent = `${place + 1}. ${result.path}`;
    this.find("photo").src = `/api/photo/${result.id}`;
    this.find("photo").alt = `Photo ${place + 1}: ${result.path}`;
    this.find("facts").textContent = `${facts(result)}, score ${result.score.toFixed(3)}`;
    for (const id of ["words", "heads", "copies"]) this.find(id).replaceChildren();
    for (const id of ["where", "note"]) this.find(id).textContent = "";
    if (result.copies.length) this.find("copies").append(...copies(result.copies));
    this.heat.clear();
    if (this.answer.query !== null && this.explains) this.explain(result);
  }

  async explain(result) {
    this.asking = new AbortController();
    const asked = new URLSearchParams({ photo: result.id, q: this.answer.query, language: this.answer.language });
    this.find("where").textContent = "Looking…";
    try {
      this.looked = await ask(`/api/explain?${asked}`, { signal: this.asking.signal });
    } catch (error) {
      if (error.name !== "AbortError") this.find("where").textContent = error.message;
      return;
    }
    this.find("where").textContent = "Choose a word to see where it is seen.";
    this.find("note").textContent = NOTES[this.looked.method];
    this.shown = null;
    this.find("words").append(...this.looked.words.map((word) => this.wordButton(word)));
    this.find("heads").append(...this.looked.heads.map((head, number) => this.headButton(head, number)));
  }

  wordButton(word) {
    const most = Math.max(...this.looked.words.map(({ part }) => part), 1e-9);
    const button = this.button(word.text, () => this.light(button, word.weights, this.described(word)));
    button.lang = this.looked.language;
    button.classList.toggle("unknown", !word.known);
    const strength = Math.round(100 * Math.max(0, word.part) / most);
    button.style.borderBottomColor = `color-mix(in srgb, var(--mark) ${strength}%, var(--line))`;
    return button;
  }

  headButton(head, number) {
    const name = this.looked.heads.length > 1 ? `attention head ${number + 1}` : "attention";
    const words = this.looked.words.map(({ text }, place) => [head.words[place], text]);
    const [weight, text] = words.reduce((best, each) => (each[0] > best[0] ? each : best));
    const said = `It looks ${this.placeOf(head.regions)} in the photo, and at “${text}” most (${share(weight)}).`;
    const button = this.button(name, () => this.light(button, head.regions, said));
    return button;
  }

  button(text, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-pressed", "false");
    for (const event of ["pointerenter", "focus", "click"]) button.addEventListener(event, act);
    return button;
  }

  light(button, weights, said) {
    if (this.shown === button) return;
    this.shown?.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", "true");
    this.shown = button;
    this.find("where").textContent = said;
    this.heat.draw(weights, this.looked.grid);
  }

  described(word) {
    const adds = `adds ${word.part.toFixed(3)} of ${this.looked.score.toFixed(3)}`;
    if (!word.known) return `“${word.text}” is not a word that the model knows; ${adds}.`;
    if (!Math.max(...word.weights)) return `Nothing in the photo speaks for “${word.text}”; ${adds}.`;
    return `“${word.text}”: most ${this.placeOf(word.weights)} (${share(Math.max(...word.weights))}); ${adds}.`;
  }

  placeOf(weights) {
    const [rows, columns] = this.looked.grid, best = weights.indexOf(Math.max(...weights));
    const third = (cell, cells) => Math.min(2, Math.floor(3 * (cell + .5) / cells));
    return PLACES[3 * third(Math.floor(best / columns), rows) + third(best % columns, columns)];
  }
}

function facts(result) {
  if (result.confidence === null) return "A photo that looks alike";
  return `Results like this are ${percent(result)} of the time${result.weak ? ": a weak match" : ""}`;
}

function share(weight) {
  return `${Math.round(100 * weight)} %`;
}

function copies(paths) {
  const title = document.createElement("p"), list = document.createElement("ul");
  title.className = "dim";
  title.textContent = "Copies:";
  list.append(...paths.map((path) => Object.assign(document.createElement("li"), { textContent: path })));
  return [title, list];
}
