// The page: files that were dropped, what is asked of the worker, and what it answers.
"use strict";

const at = (id) => document.getElementById(id);
const chosen = { monitor: null, logs: [], proposed: null };
const wasm = new Blob([Uint8Array.from(atob(at("module").textContent), (c) => c.charCodeAt(0))]);
let worker = null;

/** Sets what the page shows of its work; whoever drives the page from outside reads the attribute. */
function show(state, text) {
  document.body.dataset.state = state;
  at("told").hidden = false;
  at("state").textContent = text;
  at("state").className = state === "failed" ? "error" : "";
  at("bar").hidden = state !== "working";
  ["inspect", "fit", "score"].forEach((id) => { at(id).disabled = state === "working"; });
  at("stop").disabled = state !== "working";
}

function add(files) {
  for (const file of files) {
    if (file.name.endsWith(".monitor")) chosen.monitor = file;
    else chosen.logs.push({ file, nominal: true });
  }
  list();
}

function list() {
  at("chosen").hidden = at("work").hidden = chosen.logs.length === 0 && chosen.monitor === null;
  at("monitor").textContent = chosen.monitor ? `Monitor: ${chosen.monitor.name}` : "No monitor yet: fit one, or drop one.";
  at("logs").replaceChildren(...chosen.logs.map(row));
}

function row(log) {
  const cell = (...content) => { const td = document.createElement("td"); td.append(...content); return td; };
  const nominal = Object.assign(document.createElement("input"), { type: "checkbox", checked: log.nominal, ariaLabel: `${log.file.name} is nominal` });
  nominal.onchange = () => { log.nominal = nominal.checked; };
  const remove = Object.assign(document.createElement("button"), { textContent: "remove" });
  remove.onclick = () => { chosen.logs = chosen.logs.filter((other) => other !== log); list(); };
  const tr = document.createElement("tr");
  tr.append(cell(log.file.name), cell(`${(log.file.size / 1e6).toFixed(2)} MB`), cell(nominal), cell(remove));
  return tr;
}

function begin() {
  worker = new Worker(URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" })));
  worker.postMessage({ wasm });
}

/** Asks the worker, and resolves with its answers. */
function ask(request, files) {
  if (!worker) begin();
  show("working", "Reading files");
  at("bar").removeAttribute("value");
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.progress) return advance(data.progress);
      if (data.error) return reject(new Error(data.error));
      resolve(data);
    };
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ request, files });
  });
}

function advance({ what, done, total }) {
  at("state").textContent = what;
  if (total > 0) at("bar").value = done / total;
  else at("bar").removeAttribute("value");
}

/** Shows what a command says, its page, and its files for download. */
function present(title, answers, page, files) {
  const said = JSON.parse(new TextDecoder().decode(answers[0]));
  at("found").hidden = false;
  at("title").textContent = title;
  at("text").textContent = said.text;
  at("report").hidden = !page;
  at("report").srcdoc = page ? new TextDecoder().decode(page) : "";
  const json = [`${title.toLowerCase()}.json`, JSON.stringify(said.found, null, 1), "application/json"];
  at("downloads").replaceChildren(...[json, ...files].map(link));
}

function link([name, content, type]) {
  const blob = new Blob([content], { type });
  return Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), blob, download: name, textContent: name });
}

const names = (logs) => logs.map((log) => log.file.name);
const files = (logs) => logs.map((log) => log.file);
const mapping = () => at("mapping").value.trim() || null;
// What nobody has edited does not stand in for the mapping that a monitor brings.
const edited = () => (mapping() === chosen.proposed ? null : mapping());

const commands = {
  async inspect() {
    const { answers, secs } = await ask({ command: "inspect", logs: names(chosen.logs) }, files(chosen.logs));
    at("mapping").value = new TextDecoder().decode(answers[1]);
    chosen.proposed = mapping();
    present("Inspection", answers, answers[2], [["map.toml", answers[1], "application/toml"]]);
    return secs;
  },

  async fit() {
    const logs = chosen.logs.filter((log) => log.nominal);
    const request = { logs: names(logs), detector: at("detector").value, rule: at("rule").value, alpha: Number(at("alpha").value), diagnosis: at("diagnosis").checked, file: "fitted.monitor" };
    const { answers, secs } = await ask({ command: "fit", request, mapping: mapping(), seed: Number(at("seed").value) }, files(logs));
    chosen.monitor = new File([answers[1]], request.file);
    list();
    present("Fit", answers, null, [[request.file, answers[1], "application/octet-stream"]]);
    return secs;
  },

  async score() {
    if (!chosen.monitor) throw new Error("expected a monitor, found none: fit one, or drop its file");
    const others = chosen.logs.filter((log) => !log.nominal);
    const logs = others.length ? others : chosen.logs;
    const request = { command: "score", monitor: chosen.monitor.name, logs: names(logs), mapping: edited(), seed: Number(at("seed").value) };
    const { answers, secs } = await ask(request, [chosen.monitor, ...files(logs)]);
    present("Alarms", answers, answers[1], [["alarms.html", answers[1], "text/html"], ["alarms.csv", answers[2], "text/csv"], ["steps.csv", answers[3], "text/csv"]]);
    return secs;
  },
};

for (const [id, command] of Object.entries(commands)) {
  at(id).onclick = async () => {
    try {
      const secs = await command();
      document.body.dataset.secs = secs;
      show("done", `Done in ${secs.toFixed(2)} s`);
    } catch (error) {
      at("found").hidden = true;
      show("failed", error.message);
    }
  };
}

at("stop").onclick = () => {
  worker.terminate();
  worker = null;
  show("ready", "Stopped");
};
at("files").onchange = () => add(at("files").files);
addEventListener("dragover", (event) => { event.preventDefault(); at("drop").classList.add("over"); });
addEventListener("dragleave", () => at("drop").classList.remove("over"));
addEventListener("drop", (event) => { event.preventDefault(); at("drop").classList.remove("over"); add(event.dataTransfer.files); });
