// The map of pictures and captions: the triple nearest to the pointer, or reached by the arrow keys, is shown beside it.
(() => {
  "use strict";
  const space = document.querySelector(".space");
  const map = space.querySelector("svg[role=group]");
  const shown = space.querySelector(".shown");
  const details = JSON.parse(space.querySelector("script").textContent);
  const triples = [...map.querySelectorAll(".triple")];
  const marks = triples.flatMap((triple, number) =>
    [...triple.querySelectorAll("g")].map((mark) => {
      const { e, f } = mark.transform.baseVal.consolidate().matrix;
      return { x: e, y: f, number };
    }),
  );
  const reach = 24; // pixels on the screen
  let current = null;

  const element = (name, text, attributes = {}) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(text);
    return made;
  };

  function show(number) {
    map.classList.add("chosen");
    if (number === current) return;
    if (current !== null) triples[current].classList.remove("on");
    triples[number].classList.add("on");
    current = number;
    const { name, image, captions, cosines } = details[number];
    const parts = image ? [element("img", "", { src: image, alt: name })] : [];
    parts.push(element("h3", name));
    for (const [lang, language, text] of captions) {
      parts.push(element("p", language, { className: "dim" }), element("p", text, { lang, dir: "auto" }));
    }
    parts.push(element("p", cosines, { className: "dim" }));
    shown.replaceChildren(...parts);
  }

  function enter(number) {
    for (const [each, triple] of triples.entries()) triple.setAttribute("tabindex", each === number ? 0 : -1);
    triples[number].focus({ preventScroll: true });
    show(number);
  }

  function nearest(event) {
    const box = map.getBoundingClientRect();
    const scale = box.width / map.viewBox.baseVal.width;
    let best = null;
    let distance = reach;
    for (const { x, y, number } of marks) {
      const away = Math.hypot(box.left + x * scale - event.clientX, box.top + y * scale - event.clientY);
      if (away < distance) [best, distance] = [number, away];
    }
    return best;
  }

  function leave() {
    if (!map.contains(document.activeElement)) map.classList.remove("chosen");
  }

  map.addEventListener("pointermove", (event) => {
    const number = nearest(event);
    if (number !== null) show(number);
    else leave();
  });
  map.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") leave();
  });
  map.addEventListener("click", (event) => {
    const number = nearest(event);
    if (number !== null) enter(number);
    else {
      document.activeElement.blur();
      map.classList.remove("chosen");
    }
  });
  map.addEventListener("focusin", (event) => {
    const number = triples.indexOf(event.target);
    if (number >= 0) show(number);
  });
  map.addEventListener("focusout", (event) => {
    if (!map.contains(event.relatedTarget)) map.classList.remove("chosen");
  });
  map.addEventListener("keydown", (event) => {
    const last = triples.length - 1;
    const number = Math.max(triples.indexOf(document.activeElement), 0);
    const next = {
      ArrowRight: number + 1,
      ArrowDown: number + 1,
      ArrowLeft: number - 1,
      ArrowUp: number - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    enter(Math.min(Math.max(next, 0), last));
  });
  show(0); // an example of what is shown; the map stays undimmed until the reader chooses
  map.classList.remove("chosen");
  shown.setAttribute("aria-live", "polite");
})();
