// The solver of a live page: the program as WebAssembly, in a worker, so that the page never waits for it.
//
// One run at a time. What is asked for meanwhile waits, and of what waits only the newest is run. A run that keeps a newer one waiting for long is given
// up with its worker; another worker starts from the module that has been compiled already.

import type { RunHead, Rows } from "./data";

export interface Problem {
  severity: "error" | "warning" | "note";
  line?: number;
  column?: number;
  end_line?: number;
  end_column?: number;
  message: string;
  help?: string;
  where?: string;
  file?: string;
}

/** src/live/live_model.cpp writes it. */
export interface ModelAnswer {
  ok: boolean;
  problems: Problem[];
  title: string;
  parameters: { name: string; value: number; unit?: string; range?: [number, number]; formula?: string }[];
  start: { name: string; value: number }[];
  engines: { name: string; problem?: string; stands_for?: string }[];
  engine: string;
  variants: { name: string; title: string }[];
  plots: string[][];
  from: number;
  until?: number;
}

export interface LiveRun extends RunHead {
  values: { name: string; value: number }[];
  /** As the file computes it from the values of the run. */
  until?: number;
}

export interface RunAnswer {
  problems: Problem[];
  run?: LiveRun;
}

export interface RunRequest {
  set: [string, number][];
  variant?: string;
  engine?: string;
  until?: number;
}

/** What the page and its worker say to each other. */
export type ToWorker =
  | { kind: "start"; module: WebAssembly.Module }
  | { kind: "load"; text: string; files: Record<string, string>; id: number }
  | { kind: "equations"; id: number }
  | { kind: "run"; request: RunRequest; id: number };
export type FromWorker =
  | { kind: "ready" }
  | { kind: "loaded"; answer: ModelAnswer; id: number }
  | { kind: "equations"; answer: { equations: { name: string; math: string }[] }; id: number }
  | { kind: "progress"; share: number; events: number; id: number }
  | { kind: "ran"; answer: RunAnswer; rows?: Rows; id: number; milliseconds: number }
  | { kind: "failed"; message: string; id: number };

const patience = 1200; // milliseconds that a newer request waits for a run

export interface Listener {
  ran(answer: RunAnswer, rows: Rows | undefined, milliseconds: number): void;
  progress(share: number, events: number, seconds: number): void;
  failed(message: string): void;
}

type Waiting = { message: ToWorker; done: (answer: FromWorker) => void };

export class Solver {
  private worker!: Worker;
  private ready = false;
  private loaded?: ToWorker;
  private current?: Waiting & { begin: number };
  private readonly queue: Waiting[] = [];
  private next?: RunRequest;
  private count = 0;
  private timer = 0;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly script: string,
    private readonly listener: Listener,
  ) {
    this.begin();
  }

  get busy(): boolean {
    return this.current !== undefined || this.next !== undefined;
  }

  /** Reads a model text. Its runs follow. */
  load(text: string, files: Record<string, string>): Promise<ModelAnswer> {
    this.next = undefined;
    if (this.current?.message.kind === "run") this.restart();
    return new Promise((resolve, reject) => {
      const message: ToWorker = { kind: "load", text, files, id: ++this.count };
      this.queue.push({
        message,
        done: (answer) => {
          if (answer.kind !== "loaded") return reject(new Error(answer.kind === "failed" ? answer.message : "no answer"));
          if (answer.answer.ok) this.loaded = message;
          resolve(answer.answer);
        },
      });
      this.go();
    });
  }

  equations(): Promise<{ name: string; math: string }[]> {
    return new Promise((resolve) => {
      this.queue.push({ message: { kind: "equations", id: ++this.count }, done: (answer) => resolve(answer.kind === "equations" ? answer.answer.equations : []) });
      this.go();
    });
  }

  /** The newest request wins. */
  run(request: RunRequest): void {
    this.next = request;
    this.go();
    if (this.current?.message.kind !== "run") return;
    clearTimeout(this.timer);
    const left = this.current.begin + patience - performance.now();
    this.timer = window.setTimeout(() => this.giveWay(), Math.max(0, left));
  }

  /** Ends the run that is on its way, and what waits behind it. */
  stop(): boolean {
    const was = this.current?.message.kind === "run";
    this.next = undefined;
    if (was) this.restart();
    return was;
  }

  private giveWay(): void {
    if (this.next && this.current?.message.kind === "run" && performance.now() - this.current.begin >= patience) this.restart();
  }

  private restart(): void {
    this.worker.terminate();
    const lost = this.current;
    this.current = undefined;
    if (lost && lost.message.kind !== "run") this.queue.unshift(lost);
    else if (this.loaded) this.queue.unshift({ message: this.loaded, done: () => undefined });
    this.begin();
  }

  private begin(): void {
    this.ready = false;
    const url = URL.createObjectURL(new Blob([this.script], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker = worker;
    worker.onmessage = (event: MessageEvent<FromWorker>) => {
      if (worker === this.worker) this.hear(event.data);
    };
    worker.onerror = (event) => {
      if (worker === this.worker) this.listener.failed(`the solver has stopped: ${event.message || "unknown error"}`);
    };
    worker.postMessage({ kind: "start", module: this.module } satisfies ToWorker);
  }

  private hear(data: FromWorker): void {
    if (data.kind === "ready") {
      this.ready = true;
      return this.go();
    }
    if (!this.current || data.id !== (this.current.message as { id: number }).id) return;
    if (data.kind === "progress") return this.listener.progress(data.share, data.events, (performance.now() - this.current.begin) / 1000);
    const done = this.current.done;
    this.current = undefined;
    // Memory of a module that has failed is not to be trusted.
    if (data.kind === "failed") this.restart();
    done(data);
    this.go();
  }

  private go(): void {
    if (!this.ready || this.current) return;
    let one = this.queue.shift();
    if (!one && this.next) {
      one = {
        message: { kind: "run", request: this.next, id: ++this.count },
        done: (answer) => {
          if (answer.kind === "ran") this.listener.ran(answer.answer, answer.rows, answer.milliseconds);
          else if (answer.kind === "failed") this.listener.failed(answer.message);
        },
      };
      this.next = undefined;
    }
    if (!one) return;
    this.current = { ...one, begin: performance.now() };
    this.worker.postMessage(one.message);
  }
}
