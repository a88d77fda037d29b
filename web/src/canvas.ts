// A canvas that is sharp on every screen and is drawn again when its place changes.

export class Picture {
  readonly canvas = document.createElement("canvas");
  readonly ctx: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  // The width of its place is looked at when that has changed: to ask makes the browser lay out the page.
  private hostWidth = 0;
  private moved = true;
  private ratio = 0;

  constructor(
    readonly host: HTMLElement,
    label: string,
  ) {
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    host.append(this.canvas);
    const ctx = this.canvas.getContext("2d");
    if (!ctx) throw new Error("no canvas");
    this.ctx = ctx;
    new ResizeObserver(() => (this.moved = true)).observe(host);
  }

  /** Makes it as wide as its place, and empty. `height` may be a share of the width. */
  fit(height: number | ((width: number) => number)): void {
    if (this.moved) this.hostWidth = this.host.clientWidth;
    this.moved = false;
    const width = Math.max(100, this.hostWidth);
    const high = typeof height === "number" ? height : height(width);
    if (width !== this.width || high !== this.height || devicePixelRatio !== this.ratio) {
      [this.width, this.height, this.ratio] = [width, high, devicePixelRatio];
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${high}px`;
      this.canvas.width = Math.round(width * devicePixelRatio);
      this.canvas.height = Math.round(high * devicePixelRatio);
    }
    this.ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    this.ctx.clearRect(0, 0, width, high);
  }
}

/** Does something to a picture at once, or, while nobody sees it, when somebody does. What was put off before is then not done. */
export class Sight {
  private seen = true;
  private waiting?: () => void;

  constructor(element: HTMLElement) {
    const catchUp = () => {
      const task = this.waiting;
      this.waiting = undefined;
      task?.();
    };
    new IntersectionObserver(
      (entries) => {
        this.seen = entries[entries.length - 1].isIntersecting;
        if (this.seen) catchUp();
      },
      { rootMargin: "200px" },
    ).observe(element);
    addEventListener("beforeprint", catchUp);
  }

  do(task: () => void): void {
    this.waiting = this.seen ? undefined : task;
    if (this.seen) task();
  }
}

/** Round numbers between a and b, about `wanted` of them. */
export function ticks(a: number, b: number, wanted: number): number[] {
  const span = b - a;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const raw = span / Math.max(1, wanted);
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw) ?? 10 * power;
  const out: number[] = [];
  for (let k = Math.ceil(a / step); k * step <= b + 1e-9 * step; ++k) out.push(k * step);
  return out;
}
