// The first script of a live page: unpacks the others, which travel compressed, and starts them.

async function unpack(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const holder = document.getElementById(id);
  const raw = atob(holder?.textContent ?? "");
  holder?.remove();
  const packed = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) packed[i] = raw.charCodeAt(i);
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
