// What somebody has changed on a live page, as the fragment of its address: it stays in the browser, and a link carries it.
//
// The fragment is JSON; a changed model text is compressed in it. Whoever sends a link can put anything there, so everything is looked at before it is used.

import { bytes } from "./data";

export interface Changes {
  model?: string;
  variant?: string;
  engine?: string;
  until?: number;
  set: Record<string, number>;
  text?: string;
}

const longestText = 1 << 20;
const longestModel = 1 << 22;

function base64(data: Uint8Array): string {
  let raw = "";
  for (const byte of data) raw += String.fromCharCode(byte);
  return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function through(data: BufferSource, stream: ReadableWritablePair<Uint8Array, BufferSource>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(stream as ReadableWritablePair)).arrayBuffer());
}

/** Not more than a model text may have: a short link can hold a very long one. */
async function inflate(data: BufferSource): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > longestModel) {
      await reader.cancel();
      throw new Error("too long");
    }
    parts.push(value);
  }
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export async function toFragment(changes: Changes): Promise<string> {
  const out: Record<string, unknown> = {};
  if (changes.model) out.m = changes.model;
  if (changes.variant) out.v = changes.variant;
  if (changes.engine) out.e = changes.engine;
  if (changes.until !== undefined) out.u = changes.until;
  if (Object.keys(changes.set).length > 0) out.s = changes.set;
  if (changes.text !== undefined) {
    const packed = await through(new TextEncoder().encode(changes.text), new CompressionStream("deflate-raw") as never);
    out.t = base64(packed);
  }
  return Object.keys(out).length === 0 ? "" : `#${encodeURIComponent(JSON.stringify(out))}`;
}

export async function fromFragment(fragment: string): Promise<Changes> {
  const out: Changes = { set: {} };
  if (fragment.length < 2) return out;
  let read: Record<string, unknown>;
  try {
    read = JSON.parse(decodeURIComponent(fragment.slice(1))) as Record<string, unknown>;
  } catch {
    return out;
  }
  if (typeof read !== "object" || read === null) return out;
  if (typeof read.m === "string") out.model = read.m;
  if (typeof read.v === "string") out.variant = read.v;
  if (typeof read.e === "string") out.engine = read.e;
  if (typeof read.u === "number" && Number.isFinite(read.u)) out.until = read.u;
  if (typeof read.s === "object" && read.s !== null) {
    for (const [name, value] of Object.entries(read.s)) if (typeof value === "number" && Number.isFinite(value)) out.set[name] = value;
  }
  if (typeof read.t === "string" && read.t.length < longestText) {
    try {
      const packed = bytes(read.t.replace(/-/g, "+").replace(/_/g, "/"));
      out.text = new TextDecoder().decode(await inflate(packed));
    } catch {
      // A link that was cut: the rest of it counts.
    }
  }
  return out;
}
