// What the tests of pages share: the program, a browser, checks that are counted.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const source = process.env.JUDDER_SOURCE;
const program = process.env.JUDDER;
const missing = 77; // the exit code of a test that is skipped

export function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(missing);
}

let chromium;
try {
  chromium = createRequire(join(source, "web", "package.json"))("playwright-core").chromium;
} catch {
  skip("the packages of web/ are missing (npm ci --prefix web)");
}
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((p) => existsSync(p));
if (!browserPath) skip("there is no Chromium");

export const folder = mkdtempSync(join(tmpdir(), "judder-web-"));
let failures = 0;
let checks = 0;
export function check(what, condition, more = "") {
  ++checks;
  if (condition) return;
  ++failures;
  console.log(`failed: ${what} ${more}`);
}

export function judderWith(environment, ...words) {
  try {
    return execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28, env: { ...process.env, ...environment } });
  } catch (error) {
    return `${error.stdout}${error.stderr}`;
  }
}
export const judder = (...words) => judderWith({}, ...words);

/** A program that goes on: `says` waits for a word of it, `end` closes its input and gives its exit code. */
export function start(...words) {
  const child = spawn(program, words, { cwd: folder });
  let said = "";
  const listeners = new Set();
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      said += data;
      for (const listener of listeners) listener();
    });
  const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  return {
    says: (word) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!said.includes(word)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        void ended.then(() => reject(new Error(`it has ended: ${said}`)));
        look();
      }),
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}
export const gallery = (name) => join(source, "gallery", name, "model.toml");

const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });

/** Opens a page, and says what went wrong on it by itself. */
export async function open(file, options = {}, fragment = "") {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options });
  const page = await context.newPage();
  const requests = [];
  const errors = [];
  // A worker comes from a text of the page (blob:), which is no request to anybody.
  page.on("request", (request) => {
    if (!request.url().startsWith("blob:")) requests.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => {
    errors.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  const begin = performance.now();
  await page.goto(pathToFileURL(join(folder, file)).href + fragment);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", undefined, { timeout: 60000 });
  const took = performance.now() - begin;
  await page.waitForTimeout(150);
  return { page, context, requests, errors, took };
}

/** How many pixels of a canvas are not its background. */
export const ink = (page, selector) =>
  page.$$eval(selector, (list) =>
    list.map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ++count;
      return count;
    }),
  );
export const picture = (page, selector) => page.$eval(selector, (canvas) => canvas.toDataURL());

/** Runs the tests and ends the program: the exit code is the number of failures, as far as there is room. */
export async function run(tests) {
  try {
    for (const test of tests) {
      await test().catch((error) => check(`${test.name} goes to its end`, false, String(error).split("\n")[0]));
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${checks - failures} of ${checks} checks hold`);
  process.exit(Math.min(failures, 70));
}
