// The WebAssembly module as one function: byte strings in, byte strings out. Nothing here knows a page or a worker.
"use strict";

const utf8 = { of: new TextEncoder(), to: new TextDecoder() };

/** Makes a module of what was compiled; `progress` hears what is being done, how much of it is, and of how much. */
async function makeModule(wasm, progress) {
  let memory;
  let why = "the module has ended";
  const text = (at, length) => utf8.to.decode(new Uint8Array(memory.buffer, at, length));
  const page = {
    progress: (at, length, done, total) => progress(text(at, length), done, total),
    failed: (at, length) => { why = text(at, length); },
  };
  const instance = await WebAssembly.instantiate(wasm, { page });
  const exports = instance.exports;
  memory = exports.memory;

  /** Hands one byte string over; `fill` writes it, so that a large file need not be in memory twice. */
  function give(length, fill) {
    const at = exports.offnominal_give(length) >>> 0;
    fill(new Uint8Array(memory.buffer, at, length));
  }

  /** Does what a request asks for with files, each `{ length, fill }`; the answers are byte strings, the first of them JSON. */
  function run(request, files) {
    const json = utf8.of.encode(JSON.stringify(request));
    let n;
    try {
      give(json.length, (to) => to.set(json));
      files.forEach(({ length, fill }) => give(length, fill));
      n = exports.offnominal_run();
    } catch (error) {
      throw new Error(`the program failed, which is a defect of it: ${error instanceof WebAssembly.RuntimeError ? why : error.message}`);
    }
    const answer = (i) => new Uint8Array(memory.buffer, exports.offnominal_answer(i) >>> 0, exports.offnominal_answer_len(i)).slice();
    if (n === 0) throw new Error(utf8.to.decode(answer(0)));
    return Array.from({ length: n }, (_, i) => answer(i));
  }

  return { run };
}
