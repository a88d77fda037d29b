// The solver of live pages has the bits of the program: every event of every bundled model, and where its run ends. The module runs in node here, which has
// the same WebAssembly as a browser; live.mjs compares some of them in Chromium. JUDDER_FULL: every variant as well.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const source = process.env.JUDDER_SOURCE;
const program = process.env.JUDDER;
const live = join(source, "build/live");
if (!existsSync(join(live, "solver.wasm.gz"))) {
  console.log("skipped: the solver is missing (scripts/live)");
  process.exit(77);
}

const glue = { exports: {} };
new Function("module", "exports", "require", "__filename", "__dirname", gunzipSync(readFileSync(join(live, "solver.js.gz"))).toString())(glue, glue.exports, createRequire(import.meta.url), "solver.js", ".");
const module = await glue.exports({ wasmBinary: gunzipSync(readFileSync(join(live, "solver.wasm.gz"))) });

function ask(call, ...texts) {
  const places = texts.map((text) => {
    const size = module.lengthBytesUTF8(text) + 1;
    const place = module._malloc(size);
    module.stringToUTF8(text, place, size);
    return place;
  });
  const answer = JSON.parse(module.UTF8ToString(call(...places)));
  places.forEach((place) => module._free(place));
  return answer;
}

function end() {
  const begin = module._judder_numbers(4) / 8;
  return [...module.HEAPF64.slice(begin, begin + module._judder_count(4))];
}

/** A table whose texts hold no commas inside quotes but those that are quoted. */
function csv(file) {
  const split = (line) => (line.match(/("([^"]|"")*"|[^,]*)(,|$)/g) ?? []).slice(0, -1).map((cell) => cell.replace(/,$/, "").replace(/^"|"$/g, "").replace(/""/g, '"'));
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const heads = split(`${lines[0]},`);
  return lines.slice(1).map((line) => Object.fromEntries(split(`${line},`).map((cell, i) => [heads[i], cell])));
}

const folder = mkdtempSync(join(tmpdir(), "judder-bits-"));
let failures = 0;
let compared = 0;
let runs = 0;

function compare(what, place, ours, theirs) {
  ++compared;
  if (Object.is(ours, theirs) || (Number.isNaN(ours) && Number.isNaN(theirs)) || (ours === 0 && theirs === 0)) return true;
  ++failures;
  if (failures < 40) console.log(`failed: ${what}: ${place} is ${ours} here and ${theirs} in the program`);
  return false;
}

function one(name, file, variant) {
  const what = variant ? `${name}, ${variant}` : name;
  const out = join(folder, "run");
  rmSync(out, { recursive: true, force: true });
  try {
    execFileSync(program, ["run", file, "-o", out, ...(variant ? ["--variant", variant] : [])], { stdio: "ignore" });
  } catch {
    // A run that ends early is compared as well.
  }
  if (!existsSync(join(out, "events.csv"))) return console.log(`failed: ${what}: the program has made no run`, ++failures);
  const head = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
  const answer = ask(module._judder_run, JSON.stringify(variant ? { variant } : {}));
  ++runs;
  if (!answer.run) return console.log(`failed: ${what}: no run here: ${JSON.stringify(answer.problems)}`, ++failures);
  const theirs = csv(join(out, "events.csv"));
  const ours = answer.run.events;
  compare(what, "the number of events", ours.total, theirs.length);
  for (let i = 0; i < Math.min(theirs.length, ours.time.length); ++i) {
    const row = theirs[i];
    const good =
      compare(what, `the time of event ${i}`, ours.time[i], Number(row.time)) &&
      compare(what, `the kind of event ${i}`, ours.kind[i], row.kind) &&
      compare(what, `the place of event ${i}`, ours.where[i], row.where) &&
      compare(what, `the detail of event ${i}`, ours.detail[i], row.detail) &&
      compare(what, `the impulse of event ${i}`, ours.normal[i], Number(row.normal_impulse));
    if (!good) break;
  }
  const state = JSON.parse(readFileSync(join(out, "state.json"), "utf8"));
  const last = end();
  const moment = state.moment ?? state;
  compare(what, "the end", last[0], Number(moment.time ?? moment.t));
  (moment.y ?? []).forEach((value, i) => compare(what, `number ${i} of the last state`, last[i + 1], value === null ? NaN : Number(value)));
}

for (const name of readdirSync(join(source, "gallery")).sort()) {
  const place = join(source, "gallery", name);
  if (!statSync(place).isDirectory()) continue;
  const files = readdirSync(place);
  const home = `/${name}`;
  module.FS.mkdirTree(home);
  for (const file of files.filter((f) => /\.(csv|mtx)$/.test(f))) module.FS.writeFile(`${home}/${file}`, readFileSync(join(place, file), "utf8"));
  for (const file of files.filter((f) => /^model.*\.toml$/.test(f)).sort()) {
    const told = ask(module._judder_load, readFileSync(join(place, file), "utf8"), home);
    if (!told.ok) {
      console.log(`failed: ${name}/${file} is refused here: ${JSON.stringify(told.problems)}`, ++failures);
      continue;
    }
    const title = file === "model.toml" ? name : `${name}/${file}`;
    one(title, join(place, file));
    if (process.env.JUDDER_FULL) for (const variant of told.variants) one(title, join(place, file), variant.name);
  }
}
rmSync(folder, { recursive: true, force: true });
console.log(`${runs} runs, ${compared} values compared, ${failures} differ`);
process.exit(failures > 0 || runs < 40 ? 1 : 0);
