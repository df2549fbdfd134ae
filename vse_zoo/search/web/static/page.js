// The page: asks, shows what was found, and keeps the question in the address.
import { Closer } from "./closer.js";
import { ask, percent } from "./asking.js";

const LARGEST = 20 * 2 ** 20;
const find = (id) => document.getElementById(id);
const query = find("query"), language = find("language"), picture = find("picture");
const results = find("results"), weak = find("weak"), given = find("given");
let index = { languages: [], explains: false };
let current = 0; // number of the last question: what comes late for an earlier one is dropped

const closer = new Closer(find("closer"));

async function start() {
  try {
    index = await ask("/api/index");
  } catch (error) {
    find("problem").textContent = error.message;
    return;
  }
  find("size").textContent = `${index.photos.toLocaleString("en")} photos`;
  language.append(...index.languages.map(({ code, name }) => new Option(name, code)));
  fromAddress();
}

function fromAddress() {
  const asked = new URLSearchParams(location.search);
  query.value = asked.get("q") || "";
  language.value = index.languages.some(({ code }) => code === asked.get("language")) ? asked.get("language") : "";
  if (query.value.trim()) searchText(false);
}

async function search(request, told) {
  const number = ++current;
  find("status").textContent = "Searching…";
  find("problem").textContent = "";
  results.setAttribute("aria-busy", "true");
  try {
    const answer = await request();
    if (number === current) show(answer, told);
  } catch (error) {
    if (number !== current) return;
    results.replaceChildren();
    weak.hidden = true;
    find("status").textContent = find("notice").textContent = "";
    find("problem").textContent = error.message;
  } finally {
    if (number === current) results.removeAttribute("aria-busy");
  }
}

function searchText(remember = true) {
  const asked = new URLSearchParams({ q: query.value.trim() });
  if (!asked.get("q")) {
    find("problem").textContent = "Type what is in the photo, or choose a picture.";
    query.focus();
    return;
  }
  if (language.value) asked.set("language", language.value);
  if (remember) history.pushState(null, "", `?${asked}`);
  showGiven(null);
  search(() => ask(`/api/search?${asked}&k=60`), !language.value);
}

function searchPicture(file) {
  if (!file) return;
  showGiven(file);
  query.value = "";
  history.pushState(null, "", location.pathname);
  const body = new FormData();
  body.append("picture", file, "picture");
  search(() => {
    if (file.size > LARGEST) throw new Error("The picture is too large: at most 20 MB.");
    return ask("/api/search?k=60", { method: "POST", body });
  });
}

function showGiven(file) {
  if (given.src) URL.revokeObjectURL(given.src);
  find("asked").hidden = !file;
  given.hidden = false;
  if (file) given.src = URL.createObjectURL(file);
  else given.removeAttribute("src");
}
given.addEventListener("error", () => { given.hidden = true; });

function show(answer, detected) {
  const weakOnes = answer.results.filter((result) => result.weak).length;
  find("status").textContent = described(answer, weakOnes, detected);
  find("notice").textContent = answer.notice || "";
  weak.hidden = !weakOnes || weakOnes === answer.results.length;
  results.replaceChildren(...answer.results.map((result, place) => card(answer, result, place)));
}

function described(answer, weakOnes, detected) {
  const said = [], found = answer.results.length;
  // A language that no word is known in was not recognised.
  const sure = found || !detected;
  const name = sure && index.languages.find(({ code }) => code === answer.language)?.name;
  const unknown = answer.unknown_words.map((word) => `“${word}”`).join(", ");
  if (unknown) said.push(`The model doesn't know ${unknown}${name ? ` in ${name}` : ""}.`);
  if (!answer.photos) said.push("The index is empty.");
  else if (!found) said.push(unknown ? "Try other words." : "Nothing found.");
  else if (weakOnes === found) said.push("Only weak matches: probably none of your photos shows this.");
  else said.push(`The best ${found} of ${answer.photos.toLocaleString("en")} photos.`);
  if (name && detected) said.push(`Understood as ${name}.`);
  return said.join(" ");
}

function card(answer, result, place) {
  const item = document.createElement("li"), button = document.createElement("button");
  const image = new Image(), caption = document.createElement("span"), path = document.createElement("span");
  item.className = result.weak ? "weak" : "";
  button.type = "button";
  image.loading = place < 12 ? "eager" : "lazy";
  image.alt = "";
  image.src = `/api/thumbnail/${result.id}`;
  image.addEventListener("error", () => {
    const gone = document.createElement("span");
    gone.className = "gone";
    gone.textContent = "no longer there";
    image.replaceWith(gone);
  });
  caption.className = "caption";
  caption.append(`${place + 1}. ${percent(result)}`);
  if (result.weak) {
    const tag = document.createElement("span");
    tag.className = "tag";
    tag.textContent = "weak";
    caption.append(tag);
  }
  path.className = "dim";
  path.textContent = path.title = result.path;
  caption.append(path);
  button.append(image, caption);
  button.addEventListener("click", () => closer.open(answer, place, index.explains));
  item.append(button);
  return item;
}

find("ask").addEventListener("submit", (event) => { event.preventDefault(); searchText(); });
language.addEventListener("change", () => { if (query.value.trim()) searchText(); });
picture.addEventListener("change", () => { searchPicture(picture.files[0]); picture.value = ""; });
weak.addEventListener("change", () => results.classList.toggle("only-good", weak.firstElementChild.checked));
window.addEventListener("popstate", fromAddress);
document.addEventListener("paste", (event) => {
  const file = [...event.clipboardData.files][0];
  if (file) { event.preventDefault(); searchPicture(file); }
});
document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dropping");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  searchPicture(event.dataTransfer.files[0]);
});
start();
