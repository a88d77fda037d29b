// A page in which models run: sliders, plots, drawing and events that follow, the model text under them, a link that carries what was changed.

import { Controls } from "./controls";
import { Rows, runOf, short } from "./data";
import { Editor } from "./editor";
import { fromFragment, toFragment } from "./link";
import { details, equationLines, openOnPaper, section } from "./parts";
import { ModelAnswer, Problem, RunAnswer, Solver } from "./solver";
import { element } from "./tables";
import { View } from "./view";

interface LiveModel {
  name: string;
  title: string;
  text: string;
  files: Record<string, string>;
}

/** src/report/live_page.cpp writes it. */
interface LivePage {
  title: string;
  program: string;
  gallery: boolean;
  models: LiveModel[];
}

const slow = 400; // milliseconds after which a run shows how far it is
const resting = 100; // milliseconds without a change after which the address has what was changed
const typing = 250; // milliseconds without a key after which a text is read

class Live {
  private model!: LiveModel;
  private answer?: ModelAnswer;
  private edited?: string;
  private view?: View;
  private key = "";
  private drawn = 0;
  private timer = 0;
  private typed = 0;
  private addressed = 0;
  private count = 0;
  private editor?: Editor;
  private readonly solver: Solver;
  private readonly controls: Controls;
  private readonly title = element("h1");
  private readonly trouble = element("div", "trouble");
  private readonly progress = element("div", "running");
  private readonly bar = element("progress");
  private readonly progressWords = element("span");
  private readonly panel = element("aside", "controls");
  private readonly stage = element("div", "motion");
  private readonly results = element("div", "results");
  private readonly editorHost = element("div", "editor");
  private readonly equations = element("div");
  private readonly list = element("nav", "gallery");
  private readonly bench = element("div", "live");

  constructor(
    private readonly root: HTMLElement,
    private readonly page: LivePage,
    module: WebAssembly.Module,
    script: string,
  ) {
    this.controls = new Controls(this.panel, () => this.changed());
    this.solver = new Solver(module, script, {
      ran: (answer, rows, milliseconds) => this.ran(answer, rows, milliseconds),
      progress: (share, events, seconds) => this.told(share, events, seconds),
      failed: (message) => {
        this.idle();
        this.complain([{ severity: "error", message }]);
      },
    });
    this.head();
    this.progress.hidden = true;
    this.bar.max = 1;
    const stop = element("button", "stop", "stop");
    stop.type = "button";
    stop.addEventListener("click", () => this.stop());
    this.progress.append(this.bar, this.progressWords, stop);
    const left = element("div", "left");
    left.append(this.stage, this.progress, this.trouble);
    this.bench.append(left, this.panel);
    this.root.append(this.list, this.bench, this.results);
    this.texts();
    this.root.append(element("footer", "", `Made by ${page.program}. The solver runs in this page; nothing is sent anywhere.`));
    let timer = 0;
    new ResizeObserver(() => {
      clearTimeout(timer);
      timer = window.setTimeout(() => this.view?.resize(), 60);
    }).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.view?.rebuild());
    addEventListener("hashchange", () => void this.open());
    openOnPaper();
  }

  private head(): void {
    const header = element("header");
    header.append(this.title);
    const button = (text: string, words: string, act: () => void) => {
      const out = element("button", "", text);
      out.type = "button";
      out.title = words;
      out.setAttribute("aria-label", words);
      out.addEventListener("click", act);
      header.append(out);
      return out;
    };
    if (this.page.gallery) button("all models", "the list of all models", () => (location.hash = ""));
    const link = button("link", "copy a link with everything that was changed", () => {
      void this.address().then(() => navigator.clipboard?.writeText(location.href)).then(
        () => (link.textContent = "copied"),
        () => (link.textContent = "it is in the address"),
      );
      setTimeout(() => (link.textContent = "link"), 1500);
    });
    button("◐", "light or dark", () => {
      const now = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
      document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
      this.view?.rebuild();
    }).classList.add("dark");
    this.root.append(header);
  }

  private texts(): void {
    const box = section(this.root, "Model", "model");
    const part = details(box, "Equations", false);
    part.append(this.equations);
    part.addEventListener("toggle", () => {
      if ((part as HTMLDetailsElement).open) void this.showEquations();
    });
    const text = details(box, "Model file, to be changed in place", true);
    const back = element("button", "", "as it was");
    back.type = "button";
    back.addEventListener("click", () => {
      this.editor?.setText(this.model.text);
      this.edited = undefined;
      void this.read(this.model.text, {});
    });
    const bar = element("div", "bar");
    bar.append(back);
    text.append(bar, this.editorHost);
    // The editor is the slowest thing to make, and far down: the first picture comes before it.
    const make = () => {
      this.editor ??= new Editor(this.editorHost, (now) => {
        clearTimeout(this.typed);
        this.typed = window.setTimeout(() => {
          this.edited = now === this.model.text ? undefined : now;
          void this.read(now, { set: this.controls.changed, ...this.controls.chosen });
        }, typing);
      });
      this.editor.setText(this.edited ?? this.model.text);
      this.editor.show(this.answer?.problems ?? []);
    };
    this.whenIdle = () => {
      if (!this.editor) make();
    };
  }
  private whenIdle: () => void = () => undefined;

  /** What the address asks for. */
  async open(): Promise<void> {
    clearTimeout(this.addressed);
    const changes = await fromFragment(location.hash);
    const found = this.page.models.find((m) => m.name === changes.model) ?? (this.page.gallery ? undefined : this.page.models[0]);
    this.list.hidden = found !== undefined;
    this.root.classList.toggle("listing", !found);
    for (const part of [this.bench, this.results, document.getElementById("model")!]) part.hidden = !found;
    if (!found) return this.showList();
    this.model = found;
    this.edited = changes.text;
    this.editor?.setText(changes.text ?? found.text);
    await this.read(changes.text ?? found.text, changes);
  }

  private showList(): void {
    this.title.textContent = this.page.title;
    document.title = this.page.title;
    this.solver.stop();
    document.documentElement.dataset.ready = "yes";
    if (this.list.childElementCount > 0) return;
    for (const model of this.page.models) {
      const link = element("a");
      link.href = `#${encodeURIComponent(JSON.stringify({ m: model.name }))}`;
      link.append(element("strong", "", model.name), element("span", "", model.title));
      this.list.append(link);
    }
  }

  /** Takes a text, with values of before where they still mean something, and runs it. */
  private async read(text: string, keep: { set?: Record<string, number>; variant?: string; engine?: string; until?: number }): Promise<void> {
    const mine = ++this.count;
    const set = { ...keep.set };
    const answer = await this.solver.load(text, this.model.files).catch((error: unknown): ModelAnswer | undefined => {
      this.complain([{ severity: "error", message: String(error) }]);
      return undefined;
    });
    if (!answer || mine !== this.count) return;
    this.editor?.show(answer.problems);
    this.complain(answer.problems.filter((p) => p.severity === "error"), true);
    document.documentElement.dataset.ready = "yes";
    if (!answer.ok) return this.whenIdle();
    this.answer = answer;
    this.title.textContent = answer.title || this.model.title || this.model.name;
    document.title = this.title.textContent;
    this.controls.build(answer, { ...keep, set });
    this.equations.replaceChildren();
    if (this.equations.closest("details")?.open) void this.showEquations();
    this.changed();
  }

  private changed(): void {
    document.documentElement.dataset.running = "yes";
    delete document.documentElement.dataset.complete;
    this.solver.run(this.controls.request);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.solver.busy && (this.progress.hidden = false), slow);
    clearTimeout(this.addressed);
    this.addressed = window.setTimeout(() => void this.address(), resting);
  }

  /** Puts what was changed into the address. A browser takes milliseconds for it, so a slider has to rest first. */
  private async address(): Promise<void> {
    clearTimeout(this.addressed);
    const fragment = await toFragment({
      model: this.page.gallery ? this.model.name : undefined,
      set: this.controls.changed,
      text: this.edited,
      ...this.controls.chosen,
    });
    if (fragment !== location.hash) history.replaceState(null, "", fragment || location.pathname + location.search);
  }

  private told(share: number, events: number, seconds: number): void {
    if (seconds * 1000 > slow) this.progress.hidden = false;
    if (Number.isFinite(share) && share > 0) this.bar.value = share;
    else this.bar.removeAttribute("value");
    const left = share > 0.01 ? (seconds / share) * (1 - share) : NaN;
    this.progressWords.textContent = `${Math.round(100 * share)} %, ${events} events${Number.isFinite(left) ? `, ${short(left, 2)} s to go` : ""}`;
  }

  private idle(): void {
    clearTimeout(this.timer);
    this.progress.hidden = true;
    delete document.documentElement.dataset.running;
  }

  private stop(): void {
    this.solver.stop();
    this.idle();
    this.complain([{ severity: "note", message: "the run was stopped; what is shown is the run before it" }]);
  }

  private ran(answer: RunAnswer, rows: Rows | undefined, milliseconds: number): void {
    if (!this.solver.busy) this.idle();
    if (!answer.run || !rows) return this.complain(answer.problems);
    this.complain([]);
    const run = runOf(answer.run, rows);
    this.controls.follow(answer.run.values);
    this.controls.followUntil(answer.run.until);
    this.controls.follow(answer.run.parameters.map((p) => ({ name: p.name, value: Number(p.value) })));
    run.about.push(["computed in", `${short(milliseconds, 3)} ms, in this page`]);
    const plots = this.answer?.plots ?? [];
    const key = View.key(run, plots);
    if (this.view && key === this.key) this.view.show(run);
    else {
      this.view?.remove();
      this.key = key;
      this.view = new View(this.results, this.stage, run, plots);
    }
    document.documentElement.dataset.runs = String(++this.drawn);
    document.documentElement.dataset.milliseconds = milliseconds.toFixed(2);
    if (!this.editor) setTimeout(() => this.whenIdle(), 50);
  }

  private async showEquations(): Promise<void> {
    if (this.equations.childElementCount > 0) return;
    equationLines(this.equations, await this.solver.equations());
  }

  /** What is wrong, where it is seen at once; texts have theirs under the line as well. */
  private complain(problems: Problem[], inText = false): void {
    this.trouble.replaceChildren();
    if (problems.length > 0) this.idle();
    for (const problem of problems.slice(0, 5)) {
      const line = element("p", `problem ${problem.severity}`);
      const place = problem.line !== undefined && inText ? `line ${problem.line}: ` : problem.where ? `${problem.where}: ` : "";
      line.append(element("strong", "", place), problem.message);
      if (problem.help) line.append(element("span", "help", ` (${problem.help})`));
      this.trouble.append(line);
    }
    if (inText && problems.length > 0 && this.view) this.trouble.append(element("p", "note", "What is shown is the model before this change."));
  }
}

async function start(module: Promise<WebAssembly.Module>, script: string): Promise<void> {
  const root = document.getElementById("page");
  const page = JSON.parse(document.getElementById("data")?.textContent ?? "") as LivePage;
  if (root) await new Live(root, page, await module, script).open();
}

// boot.ts calls it.
Object.assign(window, { judder_live: start });
