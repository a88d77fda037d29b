// Inside the worker: the module, and what is asked of it. The script that emscripten makes (`judder_solver`) stands before this one.

import type { FromWorker, ToWorker } from "./solver";

interface Module {
  _judder_load(text: number, folder: number): number;
  _judder_equations(): number;
  _judder_run(request: number): number;
  _judder_numbers(which: number): number;
  _judder_count(which: number): number;
  _malloc(size: number): number;
  _free(place: number): void;
  UTF8ToString(place: number): string;
  stringToUTF8(text: string, place: number, size: number): void;
  lengthBytesUTF8(text: string): number;
  HEAPF32: Float32Array;
  HEAPF64: Float64Array;
  FS: { mkdirTree(path: string): void; writeFile(path: string, text: string): void };
  progress?: (share: number, events: number) => void;
}

type Make = (options: object) => Promise<Module>;
declare const judder_solver: Make;

let solver: Module | undefined;

function say(message: FromWorker, transfer: Transferable[] = []): void {
  (postMessage as (message: FromWorker, transfer: Transferable[]) => void)(message, transfer);
}

/** Calls a function that takes texts and gives one. */
function ask<T>(module: Module, call: (...places: number[]) => number, ...texts: string[]): T {
  const places = texts.map((text) => {
    const size = module.lengthBytesUTF8(text) + 1;
    const place = module._malloc(size);
    module.stringToUTF8(text, place, size);
    return place;
  });
  try {
    return JSON.parse(module.UTF8ToString(call(...places))) as T;
  } finally {
    places.forEach((place) => module._free(place));
  }
}

function doubles(module: Module, which: number): Float64Array {
  const begin = module._judder_numbers(which) / 8;
  return module.HEAPF64.slice(begin, begin + module._judder_count(which));
}
function floats(module: Module, which: number): Float32Array {
  const begin = module._judder_numbers(which) / 4;
  return module.HEAPF32.slice(begin, begin + module._judder_count(which));
}

/** Every text has a folder of its own for its data files; names were looked at by the program that wrote the page. */
function load(module: Module, text: string, files: Record<string, string>, id: number): void {
  const folder = `/model${id}`;
  module.FS.mkdirTree(folder);
  for (const [name, content] of Object.entries(files)) {
    const parts = name.split("/");
    if (parts.some((part) => part === ".." || part === "")) continue;
    module.FS.mkdirTree([folder, ...parts.slice(0, -1)].join("/"));
    module.FS.writeFile(`${folder}/${name}`, content);
  }
  say({ kind: "loaded", answer: ask(module, module._judder_load, text, folder), id });
}

function run(module: Module, message: Extract<ToWorker, { kind: "run" }>): void {
  const { id } = message;
  module.progress = (share, events) => say({ kind: "progress", share, events, id });
  const begin = performance.now();
  const answer = ask<Extract<FromWorker, { kind: "ran" }>["answer"]>(module, module._judder_run, JSON.stringify(message.request));
  const milliseconds = performance.now() - begin;
  if (!answer.run) return say({ kind: "ran", answer, id, milliseconds });
  const rows = { times: doubles(module, 0), columns: floats(module, 1), sceneTimes: doubles(module, 2), scene: floats(module, 3) };
  say({ kind: "ran", answer, rows, id, milliseconds }, [rows.times.buffer, rows.columns.buffer, rows.sceneTimes.buffer, rows.scene.buffer]);
}

async function start(module: WebAssembly.Module): Promise<void> {
  solver = await judder_solver({
    instantiateWasm: (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void) => {
      void WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    },
    print: () => undefined,
    printErr: () => undefined,
  });
  say({ kind: "ready" });
}

onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.kind === "start") return void start(message.module);
  if (!solver) return;
  try {
    if (message.kind === "load") load(solver, message.text, message.files, message.id);
    else if (message.kind === "equations") say({ kind: "equations", answer: ask(solver, solver._judder_equations), id: message.id });
    else run(solver, message);
  } catch (error) {
    say({ kind: "failed", message: `the solver has failed: ${String(error)}`, id: message.id });
  }
};
