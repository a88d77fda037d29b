// Opens pages of runs in headless Chromium: no error, no request, ink in every plot, a drawing that moves, events that can be gone to, hostile texts that
// stay texts. Prints what failed; 77 where something that it needs is missing.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";
import { check, folder, gallery, ink, judder, judderWith, open as openPage, picture, run, source, start } from "./browser.mjs";

/** Opens the page of a run and waits for what stands below its first screen. */
async function open(...where) {
  const opened = await openPage(...where);
  await opened.page.waitForFunction(() => document.documentElement.dataset.complete === "yes", undefined, { timeout: 60000 });
  return opened;
}

async function pressPage() {
  judder("run", gallery("press"), "-o", "press", "--report");
  check("run --report writes the page", existsSync(join(folder, "press/report.html")));
  const { page, context, requests, errors } = await open("press/report.html");
  check("the page of the press has no errors", errors.length === 0, errors.join("; "));
  check("it asks for nothing", requests.length === 1, requests.join(" "));
  const inks = await ink(page, "canvas");
  check("there are plots, a drawing, phase portraits and a timeline", inks.length >= 8, String(inks.length));
  check("each has ink", inks.every((count) => count > 200), String(inks));
  check("the referee has a word", (await page.textContent("#page")).includes("no law broken"));
  check("all events are listed", (await page.$$("#events tbody tr")).length === 51);
  check("equations are mathematics", (await page.$$("math")).length >= 3);
  check("parameters keep their names in them", (await page.textContent("#model")).includes("mp"));

  const before = await picture(page, ".stage canvas");
  await page.$eval(".player input", (slider) => {
    slider.value = "4000";
    slider.dispatchEvent(new Event("input"));
  });
  await page.waitForTimeout(150);
  check("the scrubber moves the drawing", (await picture(page, ".stage canvas")) !== before);
  const shown = await page.textContent(".player output");
  check("and tells the time", shown.includes("1.2"), shown);
  await page.click("#events tbody tr:nth-child(51)");
  await page.waitForTimeout(150);
  check("a click on an event goes to its time", (await page.textContent(".player output")).includes("1.592"));
  check("and marks it", (await page.$$("#events tr.now")).length === 1);
  await page.keyboard.press(" ");
  await page.waitForTimeout(400);
  const playing = await page.textContent(".player output");
  check("the space bar plays", !playing.includes("1.5923"), playing);
  await page.keyboard.press(" ");

  const over = await page.$(".panel .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const all = await picture(page, ".panel canvas");
  await page.mouse.move(box.x + 100, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(150);
  const zoomed = await picture(page, ".panel canvas");
  check("dragging zooms", zoomed !== all);
  await page.keyboard.press("0");
  await page.waitForTimeout(150);
  check("0 shows all again", (await picture(page, ".panel canvas")) !== zoomed);
  const light = await page.$eval("body", (body) => getComputedStyle(body).backgroundColor);
  await page.click(".dark");
  await page.waitForTimeout(150);
  const dark = await page.$eval("body", (body) => getComputedStyle(body).backgroundColor);
  check("it can be dark", light !== dark, `${light} ${dark}`);
  check("still no errors", errors.length === 0, errors.join("; "));
  await context.close();

  const phone = await open("press/report.html", { viewport: { width: 390, height: 800 }, hasTouch: true });
  const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  check("nothing sticks out on a phone", wide <= 392, String(wide));
  // A text has no more lines than words, so that none is broken.
  const broken = await phone.page.$$eval("th, td", (cells) =>
    cells.flatMap((cell) => {
      const out = [];
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(texts.currentNode);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        const words = texts.currentNode.data.trim().split(/\s+/);
        if (lines.size > words.length) out.push(texts.currentNode.data);
      }
      return out;
    }),
  );
  check("no word is broken in a table on a phone", broken.length === 0, broken.slice(0, 5).join(" | "));
  await phone.context.close();
}

async function severalRuns() {
  judder("run", gallery("press"), "--variant", "high", "-o", "high");
  judder("run", gallery("press"), "--variant", "low", "-o", "low");
  const said = judder("report", "high", "low", "-o", "both.html");
  check("report says where the page is", said.trim() === "both.html", said);
  const { page, context, errors } = await open("both.html");
  check("two runs on one page have no errors", errors.length === 0, errors.join("; "));
  check("both are named", (await page.$$(".runs li")).length === 2);
  check("both move", (await page.$$(".stage canvas")).length === 2);
  check("each curve has ink", (await ink(page, "canvas")).every((count) => count > 200));
  const rows = await page.$$eval("#compare tr", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent).join("|")));
  const has = (start) => rows.find((row) => row.startsWith(start)) ?? "";
  check("they stand side by side by the titles of their variants", rows[0] === "|Stiff spring, drop from 9 cm|Stiff spring, drop from 5 mm", rows[0]);
  check("with the parameters that differ", has("eta0|") === "eta0|0.09|0.005", rows.join("\n"));
  check("and not the others", has("mu|") === "");
  check("with their last values", /^η\|[-+.e\d]+\|[-+.e\d]+$/.test(has("η|")), has("η|"));
  check("with their extremes", rows.some((row) => /^N\|\S+ … 196\.\d+\|\S+ … 55\.\d+$/.test(row)), rows.join("\n"));
  const events = async (name) => (await page.evaluate((n) => JSON.parse(document.getElementById("data").textContent).runs.map((r) => r.events.kind.filter((k) => k === n).length), name)).join("|");
  check("with their events", has("impact|") === `impact|${await events("impact")}`, has("impact|"));
  check("with their loads", /^plane, largest force\|196\.\d+\|55\.\d+$/.test(has("plane, largest force|")), has("plane, largest"));
  const legend = await page.$eval(".panel .u-legend", (list) => list.textContent);
  check("legends have the titles of the variants", legend.includes("drop from 9 cm") && legend.includes("drop from 5 mm"), legend);
  check("both directions of slip stand beside their colours", /slip \+.*slip −/.test(await page.textContent(".timeline .key")));
  await context.close();
  const phone = await open("both.html", { viewport: { width: 390, height: 800 }, hasTouch: true });
  const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  check("nothing of two runs sticks out on a phone", wide <= 392, String(wide));
  await phone.context.close();
}

/** The bird and its sleeve move, not the pole alone. */
async function woodpecker() {
  judder("run", gallery("woodpecker"), "-o", "woodpecker", "--report");
  const { page, context, errors } = await open("woodpecker/report.html");
  const scene = await page.evaluate(() => {
    const { shapes, numbers, data, rows } = JSON.parse(document.getElementById("data").textContent).runs[0].scene;
    const values = new Float32Array(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer);
    const moves = (s) => Array.from({ length: s.numbers }, (_, k) => s.first + k).some((k) => Array.from({ length: rows }, (_, row) => values[row * numbers + k]).some((v) => v !== values[k]));
    return shapes.map((s) => [s.shape, moves(s), s.relation ?? ""]);
  });
  check("the sleeve of the woodpecker moves", scene.filter(([shape, moves]) => shape === "box" && moves).length === 1, JSON.stringify(scene));
  check("and the bird", scene.some(([shape, moves]) => shape === "polygon" && moves), JSON.stringify(scene));
  check("its contacts have their colours", ["lower", "upper", "beak"].every((name) => scene.some((s) => s[2] === name)), JSON.stringify(scene));
  check("the page has no errors", errors.length === 0, errors.join("; "));
  await context.close();
}

/** What a reader does with plots: jumps are dashed, phase portraits zoom like the others, an axis of powers of ten ends sensibly, paper shows everything. */
async function plots() {
  writeFileSync(
    join(folder, "drop.toml"),
    `format = 1\n[coordinates]\ny = 1\n[energy]\nkinetic = "y'^2/2"\npotential = "9.81*y"\n[[contact]]\nname = "floor"\ngap = "y"\nimpact = 1\n[run]\nuntil = 4\n[output]\nsamples = 400\nplots = [["t", "y'"], ["y", "y'"]]\n`,
  );
  judder("run", "drop.toml", "-o", "drop", "--report");
  const { page, context, errors } = await open("drop/report.html", { viewport: { width: 1100, height: 1600 } });
  // The velocity jumps over the whole height of the panel: a slope of it would be a line from below to above.
  const longest = await page.$eval(".panel canvas", (canvas) => {
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let most = 0;
    for (let x = 0; x < width; ++x) {
      let run = 0;
      for (let y = 0; y < height; ++y) {
        const [r, g, b, a] = data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4);
        run = a > 60 && b > 100 && b > r + 80 && b > g + 20 ? run + 1 : 0;
        most = Math.max(most, run);
      }
    }
    return most;
  });
  check("jumps are dashed", longest < 20, `${longest} pixels of one line`);
  const plane = await page.$(".plane canvas");
  await plane.scrollIntoViewIfNeeded();
  const box = await plane.boundingBox();
  const drag = async (x, y, key) => {
    if (key) await page.keyboard.down(key);
    await page.mouse.move(box.x + 150, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + x, box.y + y, { steps: 4 });
    await page.mouse.up();
    if (key) await page.keyboard.up(key);
    await page.waitForTimeout(80);
  };
  // How far the lines of the grid stand apart: a zoom changes that, a move does not.
  const grid = () =>
    page.$eval(".plane canvas", (canvas) => {
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, 1];
      copy.getContext("2d").drawImage(canvas, 0, -24);
      const { data, width } = copy.getContext("2d").getImageData(0, 0, canvas.width, 1);
      const at = [];
      for (let x = 1; x < width; ++x) if (data[4 * x + 3] > 0 && data[4 * x - 1] === 0) at.push(x);
      return at[2] - at[1];
    });
  const all = await picture(page, ".plane canvas");
  const before = await grid();
  await drag(300, 160);
  const zoomed = await picture(page, ".plane canvas");
  const after = await grid();
  check("dragging in a phase portrait zooms", zoomed !== all && Math.abs(after - before) > 3, `${before} | ${after}`);
  await drag(200, 100, "Shift");
  check("shift and drag moves it", (await picture(page, ".plane canvas")) !== zoomed);
  await page.mouse.dblclick(box.x + 200, box.y + 100);
  await page.waitForTimeout(80);
  check("two clicks show all of it", (await grid()) === before, String(await grid()));
  const folded = () => page.$$eval("details", (list) => list.map((one) => one.open));
  const usual = await folded();
  check("something is folded", usual.includes(false));
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  check("on paper nothing is", !(await folded()).includes(false));
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  check("and then it is as it was", String(await folded()) === String(usual));
  check("no errors", errors.length === 0, errors.join("; "));
  await context.close();

  // Many rows in one column of pixels: the line has no holes, be it flat or steep.
  writeFileSync(
    join(folder, "many.toml"),
    `format = 1\n[coordinates]\nz = 1\n[energy]\nkinetic = "z'^2/2"\npotential = "z^2/2"\n[run]\nuntil = 200\n[output]\nsamples = 30001\nplots = [["t", "c"], ["t", "z"]]\ncolumns = { c = "0.5 + 1e-9*z" }\n`,
  );
  judder("run", "many.toml", "-o", "many", "--report");
  const many = await open("many/report.html");
  const holes = await many.page.$$eval(".panel canvas", (list) =>
    list.map((canvas) => {
      const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const blue = [];
      for (let x = 0; x < width; ++x)
        for (let y = 0; y < height; ++y) {
          const i = 4 * (y * width + x);
          if (data[i + 3] > 60 && data[i + 2] > 100 && data[i + 2] > data[i] + 80) {
            blue.push(x);
            break;
          }
        }
      return blue.length > 500 ? blue[blue.length - 1] - blue[0] + 1 - blue.length : -1;
    }),
  );
  check("lines of many rows have no holes", holes.length === 2 && holes.every((count) => count === 0), String(holes));
  await many.context.close();

  const built = createRequire(join(source, "web", "package.json"))("esbuild").buildSync({ entryPoints: [join(source, "web/src/decades.ts")], bundle: true, format: "esm", write: false });
  const { decades } = await import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].text).toString("base64")}`);
  const rows = Array.from({ length: 2001 }, (_, i) => i / 2000);
  const passing = decades(rows.map((t) => Math.abs(Math.sin(40 * t)) + 1e-17));
  check("a value that passes zero has a few decades", passing[0] >= 1e-4 && passing[1] === 1, String(passing));
  const falling = decades(rows.map((t) => 10 ** (-9 * t)));
  check("one that falls by nine has all of them", falling[0] <= 1e-8 && falling[1] === 1, String(falling));
  check("none above zero has an axis", decades([-1, 0, NaN]).join() === "0.1,1");
  const one = decades([5]);
  check("one value has one", one[0] <= 5 && one[1] >= 5 && one[0] > 0, String(one));
}

async function hostile() {
  const text = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
  writeFileSync(
    join(folder, "hostile.toml"),
    `format = 1\ntitle = '${text}'\n[coordinates]\nx = { velocity = 1, label = '${text}', unit = '<b>u</b>' }\n[energy]\nkinetic = "x'^2/2"\n[[draw]]\nshape = "circle"\nat = ["x", 0]\nradius = 0.1\n` +
      `[run]\nuntil = 1\n[output.columns]\n"<b>${"x".repeat(200)}</b>" = "x"\n[variants]\n"<i>v</i>" = { x = 1, title = '${text}' }\n`,
  );
  judder("run", "hostile.toml", "-o", "hostile", "--report");
  judder("run", "hostile.toml", "--variant", "<i>v</i>", "-o", "hostile2");
  judder("report", "hostile", "hostile2", "-o", "hostile.html");
  for (const file of ["hostile/report.html", "hostile.html"]) {
    const { page, context, requests, errors } = await open(file);
    check(`${file}: hostile texts do nothing`, errors.length === 0, errors.join("; "));
    check(`${file}: and ask for nothing`, requests.length === 1, requests.join(" "));
    check(`${file}: no element came of them`, (await page.$$("main img, main b, main i, main script")).length === 0);
    check(`${file}: they are shown as they are`, (await page.textContent("#page")).includes("<img src=x onerror=alert(2)>"));
    await context.close();
  }
}

/** A dark page is light on paper, and dark again behind it. */
async function onPaper() {
  const { page, context } = await open("press/report.html", { colorScheme: "dark" });
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--paper").trim());
  const dark = await paper();
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const printed = await paper();
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  check("a dark page is light on paper", dark !== printed && dark === (await paper()), `${dark} ${printed} ${await paper()}`);
  await context.close();
}

async function longRun() {
  writeFileSync(
    join(folder, "long.toml"),
    `format = 1\n[parameters]\nn = 100\n[coordinates]\ny = 1\n[energy]\nkinetic = "y'^2/2"\npotential = "9.81*y"\n[[contact]]\nname = "floor"\ngap = "y"\nimpact = 1\n` +
      `[run]\nuntil = 10000\ntolerance = 1e-8\n[output]\nsamples = 100001\n`,
  );
  judder("run", "long.toml", "-o", "long", "--report");
  const size = statSync(join(folder, "long/report.html")).size;
  const { page, context, errors } = await open("long/report.html");
  check("a long run has no errors", errors.length === 0, errors.join("; "));
  check("100001 samples and eleven thousand events are under 5 MB", size < 5e6, String(size));
  const painted = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  console.log(`page of 100001 samples: ${(size / 1e6).toFixed(2)} MB, first figures after ${painted.toFixed(0)} ms`);
  check("the extremes are those of all rows", (await page.textContent("#numbers")).includes("4.42"));
  const fall = Math.sqrt(2 / 9.81);
  const impacts = Math.floor((10000 - fall) / (2 * fall)) + 1;
  const list = await page.textContent("#events");
  check("the first ten thousand events are there without a hole", list.includes(`of 10000 (of ${impacts};`), list.slice(0, 200));
  check("and bands do not go on behind them", (await page.textContent("body")).includes("behind the events listed"));
  await context.close();
}

async function brokenFolders() {
  check("a folder that is none is refused", judder("report", "nothing").includes("there is no run folder of that name"));
  check("a model is refused with the way to go", judder("report", gallery("press")).includes("judder run"));
  writeFileSync(join(folder, "mine.html"), "<p>mine</p>");
  judder("report", "press", "-o", "mine.html");
  check("a foreign file stays", readFileSync(join(folder, "mine.html"), "utf8") === "<p>mine</p>");
  judder("run", gallery("press"), "-o", "old");
  writeFileSync(join(folder, "old/run.json"), "{}");
  judder("report", "old", "-o", "old.html");
  if (existsSync(join(folder, "old.html"))) {
    const { context, errors } = await open("old.html");
    check("a run.json that says nothing makes a page without errors", errors.length === 0, errors.join("; "));
    await context.close();
  }
}

/** A page that is written again while it is open. */
async function watched() {
  const text = (gravity) =>
    `format = 1\n[coordinates]\ny = 1\n[energy]\nkinetic = "y'^2/2"\npotential = "${gravity}*y"\n[[contact]]\nname = "floor"\ngap = "y"\nimpact = 0.5\n[run]\nuntil = 1\n`;
  writeFileSync(join(folder, "watched.toml"), text("9.81"));
  const program = start("run", "watched.toml", "-o", "watched", "--watch");
  try {
    await program.says("watching");
    const { page, context, errors, requests } = await open("watched/report.html");
    const first = async () => page.textContent("#events tbody td");
    check("a watched page shows the run", (await first()).startsWith("0.4515"), await first());
    await page.evaluate(() => scrollTo(0, 400));
    writeFileSync(join(folder, "watched.toml"), text("2"));
    await page.waitForFunction(() => document.querySelector("#events tbody td")?.textContent === "1", undefined, { timeout: 20000 });
    check("it shows the next one when the model is saved", true);
    await page.waitForTimeout(300);
    check("at the place where it was", (await page.evaluate(() => scrollY)) > 200, String(await page.evaluate(() => scrollY)));
    writeFileSync(join(folder, "watched.toml"), text("nobody"));
    await page.waitForSelector("pre.trouble:not([hidden])", { timeout: 20000 });
    check("errors stand on it", (await page.textContent("pre.trouble")).includes("nobody"));
    check("and the last run stays", (await first()) === "1");
    writeFileSync(join(folder, "watched.toml"), text("9.81"));
    await page.waitForFunction(() => document.querySelector("#events tbody td")?.textContent.startsWith("0.4515"), undefined, { timeout: 20000 });
    check("until it is right again", (await page.$$("pre.trouble:not([hidden])")).length === 0);
    check("it has no errors of its own", errors.length === 0, errors.join("; "));
    check("and asks for its note alone", requests.every((url) => url.endsWith("report.html") || url.includes("report.note.js?")), requests.find((url) => !/note\.js|report\.html$/.test(url)) ?? "");
    await context.close();
  } finally {
    check("a closed input ends it well", (await program.end()) === 0);
  }
}

/** After the last of infinitely many impacts a body slips or sticks as its impacts have left it: the drawing has the colour of that. The legend has a little of every colour. */
async function afterAccumulation() {
  const colours = { slips: [0x00, 0x72, 0xb2], sticks: [0xd5, 0x5e, 0x00], closed: [0x00, 0x9e, 0x73] };
  for (const [mu, expected] of [
    [0.02, "slips"],
    [0.9, "sticks"],
  ]) {
    const name = `after-${expected}`;
    writeFileSync(
      join(folder, `${name}.toml`),
      `format = 1\n[coordinates]\nx = { velocity = 1.5 }\ny = 0.5\n[energy]\nkinetic = "x'^2 + y'^2"\npotential = "2*9.81*y"\n[[contact]]\nname = "floor"\ngap = "y"\nslip = "x'"\nfriction = ${mu}\nimpact = 0.6\n[[draw]]\nshape = "circle"\nat = ["x", "y+0.1"]\nradius = 0.1\nof = "floor"\n[run]\nuntil = 2\n`,
    );
    judder("run", `${name}.toml`, "-o", name, "--report");
    const { page, context } = await open(`${name}/report.html`);
    await page.$eval(".player input", (slider) => {
      slider.value = slider.max;
      slider.dispatchEvent(new Event("input"));
    });
    await page.waitForTimeout(150);
    const counts = await page.$eval(
      ".stage canvas",
      (canvas, wanted) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const near = ([r, g, b]) => {
          let count = 0;
          for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] > 200 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 20) ++count;
          return count;
        };
        return Object.fromEntries(Object.entries(wanted).map(([key, value]) => [key, near(value)]));
      },
      colours,
    );
    const others = Object.keys(colours).filter((key) => key !== expected);
    check(`after an accumulation a body that ${expected} is drawn so`, others.every((key) => 2 * counts[key] < counts[expected]), JSON.stringify(counts));
    await context.close();
  }
}

/** Figures and films by the browser; what is missing is said. */
async function otherFormats() {
  judder("run", gallery("bouncing-ball"), "-o", "ball");
  const said = judder("plot", "ball", "--xy", "h,h'", "--format", "pdf,png", "-o", "figures");
  check("figures are written in other formats", said.includes("figures/plot-h-hdot.pdf") && said.includes("figures/plot-h-hdot.png"), said);
  check("and not in SVG, if that was not asked for", !existsSync(join(folder, "figures/plot-h-hdot.svg")));
  check("a PDF is one", readFileSync(join(folder, "figures/plot-h-hdot.pdf")).subarray(0, 5).toString() === "%PDF-");
  const png = readFileSync(join(folder, "figures/plot-h-hdot.png"));
  check("a PNG is twice as wide as the figure", png.readUInt32BE(16) === 1440, String(png.readUInt32BE(16)));
  writeFileSync(join(folder, "mine.gif"), "mine");
  judder("plot", "ball", "--animate", "mine.gif");
  check("somebody's file stays", readFileSync(join(folder, "mine.gif"), "utf8") === "mine");
  check("a film has a known kind", judder("plot", "ball", "--animate", "film.avi").includes(".gif"));
  if (existsSync("/usr/bin/ffmpeg")) {
    judder("plot", "ball", "--animate", "ball.gif");
    const gif = existsSync(join(folder, "ball.gif")) ? readFileSync(join(folder, "ball.gif")) : Buffer.alloc(10);
    check("a film is made", gif.subarray(0, 4).toString() === "GIF8" && gif.readUInt16LE(6) === 720, `${gif.length}`);
  } else console.log("no film: ffmpeg is missing");
  check("what is missing is said", judderWith({ PATH: "/nowhere" }, "plot", "ball", "--animate", "ball.mp4").includes("apt install chromium"));
}

await run([watched, otherFormats, afterAccumulation, pressPage, severalRuns, woodpecker, plots, hostile, onPaper, longRun, brokenFolders]);
