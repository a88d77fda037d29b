// What a page need not show at once: done in order, a little at a time, after the first picture is on the screen.

const slice = 12; // milliseconds of work between two looks at what the reader does

export class Later {
  private readonly tasks: (() => void)[] = [];
  private started = false;

  /** `whenDone` is called once, when nothing is left. */
  constructor(private readonly whenDone: () => void) {
    // On paper everything is seen.
    addEventListener("beforeprint", () => this.all());
  }

  add(task: () => void): void {
    this.tasks.push(task);
  }

  start(): void {
    this.started = true;
    // Behind the next picture: a task that is asked for before it would come before it.
    requestAnimationFrame(() => setTimeout(() => this.some()));
  }

  private all(): void {
    while (this.tasks.length > 0) this.tasks.shift()?.();
    this.done();
  }

  private some(): void {
    const end = performance.now() + slice;
    do this.tasks.shift()?.();
    while (this.tasks.length > 0 && performance.now() < end);
    if (this.tasks.length > 0) setTimeout(() => this.some());
    else this.done();
  }

  private done(): void {
    if (!this.started) return;
    this.started = false;
    this.whenDone();
  }
}
