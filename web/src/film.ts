// The pictures of an animation, one after the other, for `judder plot --animate`: the program opens this page in a browser without a window, takes the
// pictures out of it and has them joined. The same drawing as on the page of a run.

import { Clock } from "./clock";
import { decode, PageJson, short } from "./data";
import { plotsOf } from "./parts";
import { PhasePlot } from "./phase";
import { Scene } from "./scene";
import { element } from "./tables";

interface Film extends PageJson {
  film: { frames: number; width: number; height: number };
}

function start(): void {
  const root = document.getElementById("page");
  const source = document.getElementById("data");
  if (!root || !source) return;
  const json = JSON.parse(source.textContent ?? "") as Film;
  const { frames, width, height } = json.film;
  const run = decode(json.runs[0]);
  document.documentElement.dataset.theme = "light";
  const host = element("div");
  host.style.width = `${width}px`;
  host.style.position = "absolute";
  root.append(host);
  const begin = run.t[0] ?? 0;
  const end = run.t[run.t.length - 1] ?? 0;
  const clock = new Clock(begin, end);
  let draw: (() => void) | undefined;
  // The time stands where nothing else is: a plane has its key at the top.
  let low = false;
  if (run.scene && run.scene.rows > 0) {
    const scene = new Scene(host, run, clock, height);
    draw = () => scene.draw();
  } else {
    const plane = plotsOf(json.plots, run).find((p) => p[0] !== "t");
    if (plane) {
      const plot = new PhasePlot(host, [run], plane[0], plane[1], clock);
      draw = () => plot.draw();
      low = true;
    }
  }
  const canvas = host.querySelector("canvas");
  const out = element("pre");
  out.id = "pictures";
  if (draw && canvas && end > begin) {
    const paper = element("canvas");
    // Even numbers, as films have them.
    paper.width = 2 * Math.ceil(canvas.width / 2);
    paper.height = 2 * Math.ceil(canvas.height / 2);
    const ctx = paper.getContext("2d")!;
    const lines: string[] = [];
    for (let i = 0; i < frames; ++i) {
      clock.now = begin + (i / Math.max(1, frames - 1)) * (end - begin);
      draw();
      ctx.fillStyle = "#ffffff";
      ctx.fillRect(0, 0, paper.width, paper.height);
      ctx.drawImage(canvas, 0, 0);
      ctx.fillStyle = "#1d2126";
      ctx.font = "14px system-ui, sans-serif";
      ctx.textAlign = "right";
      ctx.fillText(`t = ${short(clock.now, 4)}`, paper.width - 10, low ? paper.height - 8 : 18);
      lines.push(paper.toDataURL("image/png").replace("data:image/png;base64,", "picture:"));
    }
    out.textContent = lines.join("\n");
  }
  root.replaceChildren(out);
}

start();
