// Plays a run: the clock goes on with the time of the wall, slower where something strikes.

import type { Clock } from "./clock";
import { lowerIndex, Run, short } from "./data";

const wholeRun = 12; // seconds of the wall for a run at speed 1
const slowWindow = 0.35; // seconds of the wall around an impact, at speed 1
const slowest = 0.12;

export class Player {
  private playing = false;
  private last = 0;
  private speed = 1;
  private slow = true;
  private impacts: number[] = [];
  private readonly slowHost = document.createElement("span");
  private readonly button = document.createElement("button");
  private readonly slider = document.createElement("input");
  private readonly shown = document.createElement("output");

  constructor(
    host: HTMLElement,
    run: Run,
    private readonly clock: Clock,
  ) {
    this.button.type = "button";
    this.button.className = "play";
    this.slider.type = "range";
    this.slider.min = "0";
    this.slider.max = "10000";
    this.slider.step = "1";
    this.slider.setAttribute("aria-label", "time");
    this.slider.addEventListener("input", () => {
      const t = clock.begin + (Number(this.slider.value) / 10000) * (clock.end - clock.begin);
      this.playing = false;
      clock.setTime(t, this);
      this.show();
    });
    this.button.addEventListener("click", () => this.toggle());
    const speed = document.createElement("select");
    speed.setAttribute("aria-label", "speed");
    for (const factor of [0.1, 0.25, 0.5, 1, 2, 5]) {
      const option = document.createElement("option");
      option.value = String(factor);
      option.textContent = `× ${factor}`;
      option.selected = factor === 1;
      speed.append(option);
    }
    speed.addEventListener("change", () => (this.speed = Number(speed.value)));
    host.append(this.button, this.slider, this.shown, speed);
    this.slowHost.append(this.slowSwitch());
    host.append(this.slowHost);
    clock.onTime(() => this.show(), this);
    this.update(run);
  }

  /** Another run of the same model. */
  update(run: Run): void {
    this.impacts = run.events.time.filter((_, i) => run.events.kind[i] === "impact");
    this.slowHost.hidden = this.impacts.length === 0;
    this.show();
  }

  private slowSwitch(): HTMLElement {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => (this.slow = box.checked));
    label.append(box, " slow at impacts");
    return label;
  }

  toggle(): void {
    if (this.playing) return this.stop();
    if (this.clock.now >= this.clock.end) this.clock.setTime(this.clock.begin);
    this.playing = true;
    this.last = performance.now();
    this.show();
    requestAnimationFrame((now) => this.step(now));
  }

  stop(): void {
    this.playing = false;
    this.show();
  }

  private step(now: number): void {
    if (!this.playing) return;
    const perSecond = ((this.clock.end - this.clock.begin) / wholeRun) * this.speed;
    const share = this.slow && this.near(perSecond * slowWindow) ? slowest : 1;
    const t = this.clock.now + (Math.min(100, now - this.last) / 1000) * perSecond * share;
    this.last = now;
    this.clock.setTime(t, this);
    this.show();
    if (t >= this.clock.end) return this.stop();
    requestAnimationFrame((later) => this.step(later));
  }

  /** Whether something strikes within `distance` from now. Where impacts are closer than that all the time, none is slowed. */
  private near(distance: number): boolean {
    if (this.impacts.length === 0 || this.impacts.length * distance * 2 > 0.6 * (this.clock.end - this.clock.begin)) return false;
    const i = lowerIndex(this.impacts, this.clock.now);
    return [i, i + 1].some((k) => k < this.impacts.length && Math.abs(this.impacts[k] - this.clock.now) < distance);
  }

  private show(): void {
    const length = this.clock.end - this.clock.begin;
    this.slider.value = String(Math.round((10000 * (this.clock.now - this.clock.begin)) / (length || 1)));
    this.shown.textContent = `t = ${short(this.clock.now, 5)}`;
    this.button.textContent = this.playing ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", this.playing ? "pause" : "play");
  }
}
