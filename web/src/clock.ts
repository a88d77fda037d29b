// The time that a page looks at, and the stretch of time that its plots show. Everything that has a time listens here.

type TimeListener = (t: number) => void;
type RangeListener = (from: number, to: number) => void;

export class Clock {
  from: number;
  to: number;
  now: number;
  private readonly timeListeners: { listener: TimeListener; owner?: unknown }[] = [];
  private readonly rangeListeners: RangeListener[] = [];
  private waiting = false;
  private source: unknown;

  constructor(
    public begin: number,
    public end: number,
  ) {
    this.from = begin;
    this.to = end > begin ? end : begin + 1;
    this.now = begin;
  }

  /** Another run: who looked at all of the one before looks at all of this one; others keep their stretch where there is one. Nobody is told. */
  setSpan(begin: number, end: number): void {
    const all = this.from <= this.begin && this.to >= this.end;
    this.begin = begin;
    this.end = end;
    this.from = Math.max(this.from, begin);
    this.to = Math.min(this.to, end);
    if (all || !(this.to > this.from)) {
      this.from = begin;
      this.to = end > begin ? end : begin + 1;
    }
    this.now = Math.min(Math.max(this.now, begin), end);
  }

  onTime(listener: TimeListener, owner?: unknown): void {
    this.timeListeners.push({ listener, owner });
  }
  onRange(listener: RangeListener): void {
    this.rangeListeners.push(listener);
  }

  /** `source` is not told again of what it said itself. */
  setTime(t: number, source?: unknown): void {
    this.now = Math.min(Math.max(t, this.begin), this.end);
    this.source = source;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      for (const { listener, owner } of this.timeListeners) {
        if (owner === undefined || owner !== this.source) listener(this.now);
      }
    });
  }

  setRange(from: number, to: number): void {
    const shortest = (this.end - this.begin || 1) * 1e-12;
    if (!(to - from > shortest)) return;
    this.from = Math.max(from, this.begin);
    this.to = Math.min(to, this.end > this.begin ? this.end : this.begin + 1);
    if (!(this.to > this.from)) this.showAll();
    for (const listener of this.rangeListeners) listener(this.from, this.to);
  }

  /** Moves the stretch of time by a share of its length. */
  move(share: number): void {
    const length = this.to - this.from;
    const by = Math.min(Math.max(share * length, this.begin - this.from), this.end - this.to);
    this.setRange(this.from + by, this.to + by);
  }

  /** Makes it longer or shorter around `at`. */
  zoom(factor: number, at: number): void {
    this.setRange(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  showAll(): void {
    this.from = this.begin;
    this.to = this.end > this.begin ? this.end : this.begin + 1;
    for (const listener of this.rangeListeners) listener(this.from, this.to);
  }
}

/** Wheel, drag with shift or the middle button, and two fingers on whatever shows a stretch of time between `left` and the right margin. */
export function steer(host: HTMLElement, clock: Clock, left: number, right: number): void {
  const width = () => Math.max(1, host.clientWidth - left - right);
  const time = (x: number) => clock.from + ((x - host.getBoundingClientRect().left - left) / width()) * (clock.to - clock.from);
  host.addEventListener(
    "wheel",
    (event) => {
      if (!(event.ctrlKey || event.altKey || event.metaKey)) return;
      event.preventDefault();
      clock.zoom(Math.exp(event.deltaY * 0.002), time(event.clientX));
    },
    { passive: false },
  );
  let last: number | undefined;
  host.addEventListener(
    "mousedown",
    (event) => {
      if (!(event.shiftKey || event.button === 1)) return;
      event.preventDefault();
      event.stopPropagation();
      last = event.clientX;
    },
    true,
  );
  addEventListener("mousemove", (event) => {
    if (last === undefined) return;
    clock.move((last - event.clientX) / width());
    last = event.clientX;
  });
  addEventListener("mouseup", () => {
    last = undefined;
  });
  let fingers: number[] = [];
  host.addEventListener(
    "touchmove",
    (event) => {
      if (event.touches.length !== 2) return;
      event.preventDefault();
      const now = [event.touches[0].clientX, event.touches[1].clientX].sort((a, b) => a - b);
      if (fingers.length === 2) {
        clock.zoom((fingers[1] - fingers[0]) / Math.max(10, now[1] - now[0]), time((now[0] + now[1]) / 2));
        clock.move((fingers[0] + fingers[1] - now[0] - now[1]) / 2 / width());
      }
      fingers = now;
    },
    { passive: false },
  );
  host.addEventListener("touchend", () => {
    fingers = [];
  });
}
