"use strict";
// Shows a stretch of an overview: by its buttons, or by dragging over it with a mouse. Without scripts all of it is shown.
for (const figure of document.querySelectorAll(".overview")) {
  const image = figure.querySelector("svg");
  const plane = image.querySelector(".plane");
  const { box, ends, dates } = JSON.parse(image.querySelector(".data").dataset.chart);
  const [left, , right, bottom] = box;
  const [, top, width, height] = plane.getAttribute("viewBox").split(" ").map(Number);
  const ticks = [...image.querySelectorAll(":scope > text[text-anchor=middle]")];
  const make = (name, attributes) => {
    const mark = document.createElementNS(image.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) mark.setAttribute(key, value);
    image.append(mark);
    return mark;
  };
  const label = (x, anchor) => make("text", { x, y: bottom + 15, "text-anchor": anchor, class: "label" });
  const edges = [label(left, "start"), label(right, "end")];

  // What is shown, in shares of the whole; the picture has no more points than for this.
  const SMALLEST = 1 / 64;
  let [from, share] = [0, 1];
  const say = (at) => {
    const secs = ends[0] + at * (ends[1] - ends[0]);
    return dates ? new Date(1000 * secs).toISOString().slice(0, 19).replace("T", " ") : secs.toFixed(2);
  };
  function show(newFrom, newShare) {
    share = Math.min(1, Math.max(SMALLEST, newShare));
    from = Math.min(1 - share, Math.max(0, newFrom));
    plane.setAttribute("viewBox", [left + from * width, top, share * width, height].join(" "));
    for (const tick of ticks) tick.style.display = share < 1 ? "none" : "";
    edges.forEach((edge, end) => (edge.textContent = share < 1 ? say(from + end * share) : ""));
    for (const button of bar.children) button.disabled = share === 1 && button !== bar.firstChild;
  }

  const bar = document.createElement("p");
  bar.className = "zoom";
  const centre = () => from + share / 2;
  const buttons = {
    "Zoom in": () => show(centre() - share / 4, share / 2),
    "Zoom out": () => show(centre() - share, share * 2),
    Earlier: () => show(from - share / 2, share),
    Later: () => show(from + share / 2, share),
    "Show all": () => show(0, 1),
  };
  for (const [name, press] of Object.entries(buttons)) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: name, onclick: press });
    bar.append(button, " ");
  }
  figure.after(bar);
  show(0, 1);

  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(image.getScreenCTM().inverse()).x;
  const inside = (x) => Math.min(right, Math.max(left, x));
  let begun = null;
  image.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    event.preventDefault();
    image.setPointerCapture(event.pointerId);
    begun = { x: inside(at(event)), mark: make("rect", { y: top, height, class: "chosen" }) };
  });
  image.addEventListener("pointermove", (event) => {
    if (!begun) return;
    const x = inside(at(event));
    begun.mark.setAttribute("x", Math.min(x, begun.x));
    begun.mark.setAttribute("width", Math.abs(x - begun.x));
  });
  image.addEventListener("pointerup", (event) => {
    if (!begun) return;
    const [a, b] = [begun.x, inside(at(event))].sort((p, q) => p - q);
    begun.mark.remove();
    begun = null;
    if (b - a > 3) show(from + (share * (a - left)) / width, (share * (b - a)) / width);
  });
}
