// The first script of a live page: unpacks the others, which travel compressed, and starts them.

const letters = "#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{";

/** The bytes of a text that src/report/base85.hpp has written. */
function bytes(text: string): Uint8Array<ArrayBuffer> {
  const begin = text.indexOf(" ") + 1;
  const size = Number(text.slice(0, begin));
  const digit = new Uint8Array(128);
  for (let i = 0; i < letters.length; ++i) digit[letters.charCodeAt(i)] = i;
  const out = new DataView(new ArrayBuffer(4 * Math.ceil(size / 4)));
  for (let i = 0, at = begin; i < size; i += 4) {
    let four = 0;
    for (let k = 0; k < 5; ++k) four = 85 * four + digit[text.charCodeAt(at++)];
    out.setUint32(i, four);
  }
  return new Uint8Array(out.buffer, 0, size);
}

async function unpack(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const holder = document.getElementById(id);
  const packed = bytes(holder?.textContent ?? "");
  holder?.remove();
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

async function start(): Promise<void> {
  try {
    // The module is compiled while the scripts are read.
    const module = unpack("solver").then((bytes) => WebAssembly.compile(bytes));
    const [page, glue] = await Promise.all(["live", "glue"].map(async (id) => new TextDecoder().decode(await unpack(id))));
    const script = document.createElement("script");
    script.textContent = page;
    document.head.append(script);
    const worker = document.getElementById("worker")?.textContent ?? "";
    await (window as unknown as { judder_live: (module: Promise<WebAssembly.Module>, script: string) => Promise<void> }).judder_live(module, `${glue}\n${worker}`);
  } catch (error) {
    const line = document.createElement("p");
    line.className = "finding";
    line.textContent = `This browser cannot run the solver, for which it needs WebAssembly with exceptions and DecompressionStream: ${String(error)}`;
    document.getElementById("page")?.append(line);
  }
}

void start();
