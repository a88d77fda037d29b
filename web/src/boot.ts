// The first script of a live page: unpacks the others, which travel compressed, and starts them.

// As in src/report/base128.hpp.
const noLetters = [0, 8, 10, 11, 12, 13, 26, 27, 127, 34, 38, 60, 62, 92];

/** The bytes of a text that src/report/base128.hpp has written. */
function bytes(text: string): Uint8Array<ArrayBuffer> {
  const begin = text.indexOf(" ") + 1;
  const out = new Uint8Array(Number(text.slice(0, begin)));
  let held = 0;
  let bits = 0;
  let at = 0;
  const take = (seven: number) => {
    held = ((held << 7) | seven) & 0xffff;
    bits += 7;
    if (bits < 8) return;
    bits -= 8;
    out[at++] = held >> bits;
  };
  for (let i = begin; i < text.length; ++i) {
    const code = text.charCodeAt(i);
    if (code < 128) {
      take(code);
    } else {
      take(noLetters[(code - 128) >> 7]);
      take((code - 128) & 127);
    }
  }
  return out;
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
    const [page, glue, models] = await Promise.all(["live", "glue", "packed"].map(async (id) => new TextDecoder().decode(await unpack(id))));
    const data = document.createElement("script");
    data.type = "application/json";
    data.id = "data";
    data.textContent = models;
    document.head.append(data);
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
