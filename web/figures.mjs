// Pictures of pages for the manual, in few colours, so that they stay small: node web/figures.mjs PAGES PICTURES (scripts/figures calls it).
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [pages, pictures] = process.argv.slice(2).map((folder) => resolve(folder));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });

/** The top of a page, after `act`. */
async function picture(file, name, { height = 900, scheme = "light", act = async () => undefined } = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height }, colorScheme: scheme });
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(pages, file)).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  await act(page);
  await page.waitForTimeout(400);
  const raw = join(pages, `${name}.raw.png`);
  await page.screenshot({ path: raw });
  execFileSync("ffmpeg", ["-loglevel", "error", "-y", "-i", raw, "-filter_complex", "split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse=dither=none", join(pictures, `${name}.png`)]);
  rmSync(raw);
  await context.close();
}

const scrub = (share) => async (page) => {
  await page.$eval(
    ".player input",
    (slider, at) => {
      slider.value = String(Math.round(10000 * at));
      slider.dispatchEvent(new Event("input"));
    },
    share,
  );
};

await picture("press/report.html", "report-press", { act: scrub(0.04) });
await picture("rocking-block/report.html", "report-rocking-block", { scheme: "dark", act: scrub(0.1) });
await picture("roller-table/report.html", "report-roller-table", { act: scrub(0.5) });
await picture("live.html", "live", {
  act: async (page) => {
    const runs = () => page.evaluate(() => Number(document.documentElement.dataset.runs ?? 0));
    await page.waitForFunction(() => Number(document.documentElement.dataset.runs ?? 0) > 0);
    const before = await runs();
    await page.$eval('.slider input[type=range][aria-label="mu"]', (slider) => {
      slider.value = "150";
      slider.dispatchEvent(new Event("input"));
    });
    await page.waitForFunction((least) => Number(document.documentElement.dataset.runs) > least, before);
    await scrub(0.07)(page);
  },
});
await browser.close();
