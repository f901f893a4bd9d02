// Reads files and runs the module off the thread of the page, which stays responsive.
"use strict";

/** How much of a file is read at once. */
const SLICE = 1 << 24;

let compiled;

/** A file as the module takes it, read slice by slice into the module's memory. */
function handed(file) {
  const reader = new FileReaderSync();
  const fill = (to) => {
    for (let at = 0; at < file.size; at += SLICE) {
      to.set(new Uint8Array(reader.readAsArrayBuffer(file.slice(at, at + SLICE))), at);
    }
  };
  return { length: file.size, fill };
}

function progress(what, done, total) {
  postMessage({ progress: { what, done, total } });
}

async function compile(packed) {
  const unpacked = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}

onmessage = async ({ data }) => {
  if (data.wasm) {
    compiled = compile(data.wasm);
    return;
  }
  try {
    // A module of its own for each request: its memory is given back whole, and one that has failed is not used again.
    const module = await makeModule(await compiled, progress);
    const started = performance.now();
    const answers = module.run(data.request, data.files.map(handed));
    postMessage({ answers, secs: (performance.now() - started) / 1000 }, answers.map((part) => part.buffer));
  } catch (error) {
    postMessage({ error: error.message });
  }
};
