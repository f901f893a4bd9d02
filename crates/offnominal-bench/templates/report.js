"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const make = (name, attributes = {}, text = "") => {
    const element = Object.assign(document.createElement(name), attributes);
    element.textContent = text;
    return element;
  };
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");

  // What is under the pointer, in words.
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(x + 14, innerWidth - tip.offsetWidth - 8);
    const below = y + 18 + tip.offsetHeight < innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (below ? y + 18 : y - tip.offsetHeight - 10) + "px";
  }
  document.addEventListener("pointermove", (event) => {
    const target = event.target.closest?.("[data-tip]");
    if (target?.dataset.tip) showTip(target.dataset.tip, event.clientX, event.clientY);
    else if (!event.target.closest?.(".chart")) tip.hidden = true;
  });
  document.addEventListener("focusin", (event) => {
    const target = event.target.closest?.("[data-tip]");
    if (!target?.dataset.tip) return;
    const box = target.getBoundingClientRect();
    showTip(target.dataset.tip, box.left, box.bottom - 10);
  });
  document.addEventListener("focusout", () => (tip.hidden = true));

  // Sections with a name each become tabs; on paper all of them are shown.
  for (const tabs of all(".tabs")) {
    const panes = all(":scope > [data-tab]", tabs);
    if (panes.length < 2) continue;
    const list = make("div");
    list.setAttribute("role", "tablist");
    const buttons = panes.map((pane) => {
      const button = make("button", { type: "button" }, pane.dataset.tab);
      button.setAttribute("role", "tab");
      button.onclick = () => choose(pane);
      list.append(button);
      return button;
    });
    const choose = (chosen) =>
      panes.forEach((pane, i) => {
        pane.classList.toggle("off", pane !== chosen);
        buttons[i].setAttribute("aria-selected", pane === chosen);
      });
    tabs.prepend(list);
    choose(panes[0]);
  }

  // Sorting: numbers as numbers, what is missing last, baselines in their own body.
  const key = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
  function compare(a, b) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const difference = Number(a) - Number(b);
    return Number.isNaN(difference) ? a.localeCompare(b) : difference;
  }
  function sortBy(table, column) {
    const heads = all("thead th", table);
    const wasDown = heads[column].getAttribute("aria-sort") === "descending";
    const sign = wasDown ? 1 : -1;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", wasDown ? "ascending" : "descending");
    for (const body of table.tBodies) {
      const rows = [...body.rows].sort((r, s) => {
        const [a, b] = [key(r, column), key(s, column)];
        return a === "" || b === "" ? compare(a, b) : sign * compare(a, b);
      });
      body.append(...rows);
    }
  }
  function makeSortable(table) {
    all("thead th", table).forEach((head, column) => {
      head.tabIndex = 0;
      head.onclick = () => sortBy(table, column);
      head.onkeydown = (event) => event.key === "Enter" && sortBy(table, column);
    });
  }
  all(".sortable").forEach(makeSortable);

  // The heat map with another metric.
  const metric = document.getElementById("metric");
  function paint(number) {
    for (const td of all("td[data-cell]")) {
      const cell = data.cells[td.dataset.cell];
      const [place, short, full] = cell.values[number];
      td.textContent = short;
      td.classList.toggle("none", place === null);
      td.style.setProperty("--p", place ?? 0);
      td.dataset.tip = td.dataset.tip.split("\n")[0] + "\n" + full;
    }
  }
  metric?.addEventListener("change", () => paint(Number(metric.value)));

  // Charts that a choice shows or hides.
  for (const filter of all("select.filter")) {
    const apply = () => {
      for (const item of all(filter.dataset.target)) {
        item.classList.toggle("off", item.dataset[filter.dataset.key] !== filter.value);
      }
    };
    filter.addEventListener("change", apply);
    apply();
  }

  // Values of all lines at the step under the pointer.
  const short = (v) => (v === null || v === undefined ? "–" : String(Number(v.toPrecision(4))));
  function hover(svg, chart) {
    const [left, top, right, bottom] = chart.box;
    const line = document.createElementNS(svg.namespaceURI, "line");
    line.setAttribute("class", "cursor");
    svg.append(line);
    svg.addEventListener("pointermove", (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const last = Math.max(1, chart.steps - 1);
      const step = Math.round(((point.x - left) / (right - left)) * last);
      if (step < 0 || step > last) return leave();
      const x = left + ((right - left) * step) / last;
      for (const [name, value] of [["x1", x], ["x2", x], ["y1", top], ["y2", bottom]]) line.setAttribute(name, value);
      line.style.visibility = "visible";
      const lines = chart.lines.map((l) => `${l.name}: ${short(l.values[step])}`).reverse();
      showTip([`step ${step}`, ...lines].join("\n"), event.clientX, event.clientY);
    });
    const leave = () => {
      line.style.visibility = "hidden";
      tip.hidden = true;
    };
    svg.addEventListener("pointerleave", leave);
  }
  const charts = all("svg .data").map((mark) => {
    hover(mark.ownerSVGElement, JSON.parse(mark.dataset.chart));
    return mark.ownerSVGElement;
  });

  // The list of cells is made when somebody wants to see it.
  const fields = ["environment", "anomaly", "strength", "magnitude", "detector", "seed", "n"];
  const kind = (field) => (["environment", "anomaly", "strength", "detector"].includes(field) ? "text" : "num");
  const list = document.getElementById("list");
  function addRow(body, cell, number) {
    const row = make("tr", { id: "cell-" + number });
    for (const field of fields) row.append(make("td", { className: kind(field) }, cell[field]));
    for (const [, , full, sort] of cell.values) {
      const td = make("td", { className: "num" }, sort === null ? "–" : full);
      td.dataset.sort = sort ?? "";
      if (sort === null) td.dataset.tip = full;
      row.append(td);
    }
    body.append(row);
  }
  function filterBar(table) {
    const bar = make("div", { className: "bar" });
    for (const field of ["environment", "anomaly", "strength", "detector"]) {
      const select = make("select", { ariaLabel: field });
      select.append(make("option", { value: "" }, "every " + field));
      const names = new Set(data.cells.map((cell) => cell[field]));
      names.forEach((name) => select.append(make("option", { value: name }, name)));
      select.dataset.column = fields.indexOf(field);
      bar.append(select);
    }
    bar.onchange = () => {
      const chosen = all("select", bar).filter((select) => select.value !== "");
      for (const row of table.tBodies[0].rows) {
        row.hidden = chosen.some((select) => row.cells[select.dataset.column].textContent !== select.value);
      }
    };
    return bar;
  }
  function fillList() {
    if (!list || list.childElementCount) return;
    const table = make("table", { className: "numbers sortable" });
    const head = table.createTHead().insertRow();
    const titles = [...fields, ...data.metrics.map((m) => m.label)];
    titles.forEach((title) => head.append(make("th", { scope: "col", className: kind(title) }, title)));
    const body = table.createTBody();
    data.cells.slice(0, data.listed).forEach((cell, number) => addRow(body, cell, number));
    const scroll = make("div", { className: "scroll" });
    scroll.append(table);
    list.append(filterBar(table), scroll);
    makeSortable(table);
  }
  const details = list?.closest("details");
  details?.addEventListener("toggle", fillList);

  // From a cell of the heat map to its row in the list.
  document.addEventListener("click", (event) => {
    const number = event.target.closest?.("td[data-cell]")?.dataset.cell;
    if (number === undefined || !details) return;
    details.open = true;
    fillList();
    all("tr.found").forEach((row) => row.classList.remove("found"));
    const row = document.getElementById("cell-" + number);
    if (!row) return;
    row.hidden = false;
    row.classList.add("found");
    row.scrollIntoView({ block: "center" });
  });

  root.dataset.ready = charts.length;
})();
