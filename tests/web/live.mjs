// Opens live pages in headless Chromium: sliders change the events, the text is read as it is typed, the drawing moves, links carry what was changed,
// hostile texts stay texts, nothing is asked for. The solver is that of scripts/live; without it the test is skipped.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, folder, gallery, ink, judder, open, picture, run, skip, source } from "./browser.mjs";

if (!existsSync(join(source, "build/live/solver.wasm.gz"))) skip("the solver is missing (scripts/live)");

/** Waits until nothing runs, and at least `runs` pictures were made. */
const settled = (page, runs = 1) =>
  page.waitForFunction((least) => document.documentElement.dataset.running === undefined && document.documentElement.dataset.complete !== undefined && Number(document.documentElement.dataset.runs ?? 0) >= least, runs, { timeout: 60000 });
const runs = (page) => page.evaluate(() => Number(document.documentElement.dataset.runs ?? 0));
const events = (page) => page.$$eval("#events tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

/** Times and kinds of the events that the program lists, in the ten figures of a page's table and as many rows. */
function eventsOfTheProgram(name) {
  judder("run", gallery(name), "-o", `native-${name}`);
  const lines = readFileSync(join(folder, `native-${name}`, "events.csv"), "utf8").trimEnd().split("\n").slice(1, 201);
  return lines.map((line) => [Number(Number(line.split(",")[0]).toPrecision(10)), line.split(",")[1]]);
}
const eventsOfThePage = async (page) => (await events(page)).map((row) => [Number(row[0]), row[1]]);

async function slide(page, name, share) {
  const before = await runs(page);
  await page.$eval(
    `.slider input[type=range][aria-label="${name}"]`,
    (slider, at) => {
      slider.value = String(Math.round(1000 * at));
      slider.dispatchEvent(new Event("input"));
    },
    share,
  );
  await settled(page, before + 1);
}

async function pressPage() {
  check("web says where the page is", judder("web", gallery("press"), "-o", "press.html").trim() === "press.html");
  const size = statSync(join(folder, "press.html")).size;
  check("the page is under 1.5 MB", size < 1.5e6, String(size));
  const { page, context, requests, errors, took } = await open("press.html");
  await settled(page);
  console.log(`page of the press: ${(size / 1e6).toFixed(2)} MB, ready after ${took.toFixed(0)} ms`);
  check("it has no errors", errors.length === 0, errors.join("; "));
  check("it asks for nothing", requests.length === 1, requests.join(" "));
  const policy = await page.$eval("meta[http-equiv=Content-Security-Policy]", (meta) => meta.content);
  check("its policy allows nothing from anywhere", policy.startsWith("default-src 'none'") && !/https?:|\*|'self'|unsafe-eval'?[^-]*$/.test(policy.replace("'wasm-unsafe-eval'", "")), policy);
  check("the referee has a word", (await page.textContent(".told")).includes("no law broken"));
  const inks = await ink(page, "canvas");
  check("there are plots, a drawing, phase portraits and a timeline", inks.length >= 8, String(inks.length));
  check("each has ink", inks.every((count) => count > 200), String(inks));
  const first = await events(page);
  check("all events are listed", first.length === 51, String(first.length));

  await slide(page, "mu", 0.1);
  const milliseconds = await page.evaluate(async () => {
    const slider = document.querySelector('.slider input[type=range][aria-label="mu"]');
    const times = [];
    for (let i = 0; i < 20; ++i) {
      const before = document.documentElement.dataset.runs;
      const begin = performance.now();
      slider.value = String(100 + i);
      slider.dispatchEvent(new Event("input"));
      while (document.documentElement.dataset.runs === before) await new Promise((resolve) => setTimeout(resolve, 0));
      times.push([performance.now() - begin, Number(document.documentElement.dataset.milliseconds)]);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    times.sort((a, b) => a[0] - b[0]);
    return times[10];
  });
  console.log(`a step of a slider takes ${milliseconds[0].toFixed(1)} ms from the input to the picture, ${milliseconds[1]} ms of it in the solver`);
  await slide(page, "mu", 0.1);
  check("a slider changes the events", JSON.stringify(await events(page)) !== JSON.stringify(first));
  check("its field tells the value", (await page.$eval('.slider input[type=text][aria-label^="mu"]', (field) => field.value)) === "0.08");
  await page.waitForFunction(() => location.hash !== "");
  check("the address carries it", decodeURIComponent(new URL(page.url()).hash).includes('"mu":0.08'), page.url());
  const link = new URL(page.url()).hash;
  const moved = await events(page);
  await slide(page, "eta", 0.9);
  check("so do start values", JSON.stringify(await events(page)) !== JSON.stringify(moved));
  await page.selectOption('select[aria-label="engine"]', "moreau").catch(() => undefined);
  await page.click("text=as in the model");
  await page.waitForTimeout(50);
  await settled(page);
  check("all goes back", JSON.stringify(await events(page)) === JSON.stringify(first));
  check("and the address with it", new URL(page.url()).hash === "", page.url());
  await page.selectOption('select[aria-label="engine"]', "exact");
  await page.waitForTimeout(50);
  await settled(page);
  check("another engine is said in the table of the run", (await page.textContent("#numbers")).includes("exact"));
  await page.selectOption('select[aria-label="engine"]', "event");
  await page.selectOption('select[aria-label="variant"]', "high");
  await page.waitForTimeout(50);
  await settled(page);
  check("a variant brings its values", (await page.$eval('.slider input[type=text][aria-label^="c,"]', (field) => field.value)) === "20000");
  check("still no errors", errors.length === 0, errors.join("; "));
  await context.close();

  const other = await open("press.html", {}, link);
  await settled(other.page);
  check("a link has the same events", JSON.stringify(await events(other.page)) === JSON.stringify(moved));
  const before = await picture(other.page, ".stage canvas");
  await other.page.$eval(".player input", (slider) => {
    slider.value = "4000";
    slider.dispatchEvent(new Event("input"));
  });
  await other.page.waitForTimeout(150);
  check("the scrubber moves the drawing", (await picture(other.page, ".stage canvas")) !== before);
  const at = await other.page.textContent(".player output");
  await slide(other.page, "mu", 0.5);
  check("a run leaves the time where it is", (await other.page.textContent(".player output")) === at);
  await other.context.close();
}

async function editing() {
  judder("web", gallery("bouncing-ball"), "-o", "ball.html");
  const { page, context, errors, requests } = await open("ball.html");
  await settled(page);
  await page.waitForSelector(".cm-content");
  const title = await page.textContent("h1");
  const type = async (text, words) => {
    await page.click(".cm-content");
    await page.keyboard.press("Control+End");
    await page.keyboard.type(text);
    await page.waitForFunction((wanted) => document.querySelector(".cm-content")?.textContent.includes(wanted) || wanted === "", words, { timeout: 10000 });
  };
  await type("\n[[contact]]\nnme = 'x'\n", "there is no");
  await page.waitForFunction(() => [...document.querySelectorAll(".cm-content .problem")].some((node) => node.textContent.includes("nme")));
  const under = await page.$$eval(".cm-content .problem", (list) => list.filter((node) => node.textContent.includes("'nme'")).map((node) => node.previousElementSibling?.textContent ?? ""));
  check("what is wrong with what is typed is said under its line", under.length === 1 && under[0].startsWith("nme"), under.join("|"));
  check("what is shown stays", (await page.textContent(".trouble")).includes("before this change"));
  await page.click("text=as it was");
  await page.waitForFunction(() => document.querySelector(".cm-content .problem") === null);
  const before = await runs(page);
  await page.click(".cm-content");
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# mine\n");
  await settled(page, before + 1);
  await page.waitForFunction(() => location.hash.includes("t%22"));
  const link = new URL(page.url()).hash;
  await context.close();
  const other = await open("ball.html", {}, link);
  await settled(other.page);
  await other.page.waitForSelector(".cm-content");
  check("a link carries a changed text", (await other.page.textContent(".cm-content")).startsWith("# mine"));
  check("the title is the model's", (await other.page.textContent("h1")) === title);
  check("nothing went wrong", errors.length === 0 && requests.length === 1, errors.join("; "));
  await other.context.close();
  for (const bad of ["#%7B", "#{}", '#{"s":{"y":"x","__proto__":{"a":1}},"t":"AAAA","e":7,"v":"<b>"}', `#${"x".repeat(5000)}`]) {
    const broken = await open("ball.html", {}, encodeURI(bad));
    await settled(broken.page);
    check(`a bad link does no harm: ${bad.slice(0, 20)}`, broken.errors.length === 0, broken.errors.join("; "));
    await broken.context.close();
  }
}

/** The end time follows the values it is computed from until somebody sets it, and again when that is taken back. */
async function endTime() {
  writeFileSync(
    join(folder, "end.toml"),
    `format = 1\n[parameters]\nT = { value = 2, range = [1, 5] }\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = "x'^2/2"\n[run]\nuntil = "3*T"\n`,
  );
  judder("web", "end.toml", "-o", "end.html");
  const { page, context, errors } = await open("end.html");
  await settled(page);
  const field = () => page.$eval('input[aria-label="until"]', (input) => input.value);
  const ended = async () => (await page.textContent(".told")).match(/t = ([0-9.]+)/)?.[1];
  check("the field of the end has what the file computes", (await field()) === "6" && (await ended()) === "6", `${await field()} ${await ended()}`);
  await slide(page, "T", 0.75);
  check("it follows a slider", (await field()) === "12" && (await ended()) === "12", `${await field()} ${await ended()}`);
  check("and the address does not hold it", !decodeURIComponent(new URL(page.url()).hash).includes('"u"'), page.url());
  const before = await runs(page);
  await page.$eval('input[aria-label="until"]', (input) => {
    input.value = "2.5";
    input.dispatchEvent(new Event("change"));
  });
  await settled(page, before + 1);
  check("what is set is the end", (await ended()) === "2.5", await ended());
  await slide(page, "T", 0.25);
  check("and stays when a slider moves", (await field()) === "2.5" && (await ended()) === "2.5", `${await field()} ${await ended()}`);
  await page.click("text=as in the model");
  await page.waitForFunction(() => document.querySelector('input[aria-label="until"]').value === "6", undefined, { timeout: 20000 });
  await settled(page);
  check("taken back it follows again", (await ended()) === "6", await ended());
  await slide(page, "T", 1);
  check("to the end of the slider", (await field()) === "15" && (await ended()) === "15", `${await field()} ${await ended()}`);
  check("none of it is an error", errors.length === 0, errors.join("; "));
  await context.close();
}

/** Ten rows of a fast sine: what is drawn is a sine. */
async function smoothCurves() {
  writeFileSync(
    join(folder, "fast.toml"),
    `format = 1\n[coordinates]\nx = { velocity = 62.83185307179586 }\n[energy]\nkinetic = "x'^2/2"\npotential = "3947.841760435743*x^2/2"\n[run]\nuntil = 1\n[output]\nsamples = 11\n`,
  );
  judder("web", "fast.toml", "-o", "fast.html");
  judder("run", "fast.toml", "-o", "fast", "--report");
  for (const file of ["fast.html", "fast/report.html"]) {
    const { page, context, errors } = await open(file);
    if (file === "fast.html") await settled(page);
    // Rows of the picture with the colour of the curve: a straight line through the eleven zeros has a few.
    const rows = await page.evaluate(() => {
      const canvas = document.querySelector(".panel canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let high = 0;
      for (let y = 0; y < canvas.height; ++y) {
        for (let x = 0; x < canvas.width; ++x) {
          const i = 4 * (y * canvas.width + x);
          if (data[i + 3] > 128 && data[i] < 60 && data[i + 1] > 80 && data[i + 1] < 150 && data[i + 2] > 140) {
            ++high;
            break;
          }
        }
      }
      return high / canvas.height;
    });
    check(`${file}: a sine of few rows fills its panel`, rows > 0.6, String(rows));
    check(`${file}: without an error`, errors.length === 0, errors.join("; "));
    await context.close();
  }
}

async function longRun() {
  writeFileSync(
    join(folder, "long.toml"),
    `format = 1\n[parameters]\nm = 1\n[coordinates]\ny = 1\n[energy]\nkinetic = "m*y'^2/2"\npotential = "9.81*m*y + y^4/1e3"\n[[contact]]\nname = "floor"\ngap = "y"\nimpact = 1\n` +
      `[run]\nuntil = 1e5\ntolerance = 1e-12\nmax_events = 1e9\n[output]\nsamples = 101\n`,
  );
  judder("web", "long.toml", "-o", "long.html");
  const { page, context, errors } = await open("long.html");
  await page.waitForSelector(".running:not([hidden])", { timeout: 20000 });
  await page.waitForFunction(() => / events/.test(document.querySelector(".running span").textContent), undefined, { timeout: 20000 });
  check("a long run tells how far it is", true);
  await page.click(".stop");
  await page.waitForSelector(".running", { state: "hidden" });
  check("it can be stopped", (await page.textContent(".trouble")).includes("stopped"));
  await page.$eval('input[aria-label="until"]', (field) => {
    field.value = "2";
    field.dispatchEvent(new Event("change"));
  });
  await settled(page);
  check("and a shorter one comes after it", (await events(page)).length > 0);
  // The newest value wins: a run that nobody waits for any more gives way.
  await page.$eval('input[aria-label="until"]', (field) => {
    field.value = "100000";
    field.dispatchEvent(new Event("change"));
  });
  await page.waitForTimeout(300);
  const before = await runs(page);
  await page.$eval('input[aria-label="until"]', (field) => {
    field.value = "1";
    field.dispatchEvent(new Event("change"));
  });
  await settled(page, before + 1);
  check("a newer value takes the place of a long run", (await page.textContent(".told")).includes("t = 1"), await page.textContent(".told"));
  check("none of this is an error", errors.length === 0, errors.join("; "));
  await context.close();
}

async function hostile() {
  const text = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
  writeFileSync(
    join(folder, "hostile.toml"),
    `format = 1\ntitle = '${text}'\n[parameters]\nm = { value = 1, range = [0.5, 2], unit = '${text}' }\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = "m*x'^2/2"\n[[draw]]\nshape = "circle"\nat = ["x", 0]\nradius = 0.1\n` +
      `[run]\nuntil = 1\n[output.columns]\n"<b>${"x".repeat(200)}</b>" = "x"\n[variants]\n"<i>v</i>" = { x = 1, title = '${text}' }\n`,
  );
  judder("web", "hostile.toml", "-o", "hostile.html");
  const { page, context, requests, errors } = await open("hostile.html");
  await settled(page);
  check("hostile texts do nothing", errors.length === 0, errors.join("; "));
  check("and ask for nothing", requests.length === 1, requests.join(" "));
  check("no element came of them", (await page.$$("main img:not(.cm-editor img), main b, main i, main script")).length === 0);
  check("they are shown as they are", (await page.textContent("h1")) === text);
  await context.close();
}

async function wholeGallery() {
  check("the gallery is one page", judder("web", "--gallery", "-o", "all").trim() === "all/index.html");
  const size = statSync(join(folder, "all/index.html")).size;
  check("with every model it is under 1.5 MB, too", size < 1.5e6, String(size));
  const { page, context, requests, errors } = await open("all/index.html");
  const names = await page.$$eval(".gallery a strong", (list) => list.map((node) => node.textContent));
  check("all models are in its list", names.length >= 40 && names.includes("press"), String(names.length));
  for (const name of ["press", "rocking-block", "elastic-block", "relay", "woodpecker", "klarbring", "stewart-blocks"]) {
    if (name !== "press") await page.click("text=all models");
    await page.waitForSelector(".gallery:not([hidden])");
    const before = await runs(page);
    await page.click(`.gallery a:has(strong:text-is("${name}"))`);
    await settled(page, before + 1);
    check(`${name} runs`, (await page.textContent(".told")).includes("done"), await page.textContent(".told"));
    const inks = await ink(page, ".motion canvas");
    const [here, there] = [JSON.stringify(await eventsOfThePage(page)), JSON.stringify(eventsOfTheProgram(name))];
    check(`${name} has the events of the program`, here === there, `${here.slice(0, 200)} … ${there.slice(0, 200)}`);
    check(`${name} is drawn`, inks.length > 0 && inks.every((count) => count > 100), String(inks));
  }
  check("nothing went wrong in the gallery", errors.length === 0, errors.join("; "));
  check("it asks for nothing either", requests.length === 1, requests.join(" "));
  await context.close();
}

async function onAPhone() {
  const { page, context } = await open("press.html", { viewport: { width: 390, height: 800 }, hasTouch: true });
  await settled(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  check("nothing sticks out on a phone", wide <= 392, String(wide));
  await context.close();
}

async function wrongUse() {
  const text = "format = 1\n[coordinates]\nx = 0\n[energy]\nkinetic = \"y'^2\"\n";
  writeFileSync(join(folder, "wrong.toml"), text);
  check("a model with errors makes no page", judder("web", "wrong.toml").includes("wrong.toml:5"));
  check("nor is there one", !existsSync(join(folder, "wrong.html")));
  writeFileSync(join(folder, "mine.html"), "<p>mine</p>");
  judder("web", gallery("press"), "-o", "mine.html");
  check("a foreign file stays", readFileSync(join(folder, "mine.html"), "utf8") === "<p>mine</p>");
}

await run([pressPage, editing, endTime, smoothCurves, longRun, hostile, wholeGallery, onAPhone, wrongUse]);
