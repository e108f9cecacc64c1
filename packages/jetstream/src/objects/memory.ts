import { storeFailure } from "../streams/errors.ts";
import { limitedContent } from "./limited-content.ts";
import type { Objects } from "./port.ts";

/** Objects in memory, which end with the process. An object has at most `maxBytes`. */
export class MemoryObjects implements Objects {
  readonly #maxBytes: number;
  readonly #objects = new Map<string, { readonly bytes: Uint8Array; readonly storedAt: Date }>();

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  async write(
    name: string,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<number> {
    const chunks = await Array.fromAsync(limitedContent(content, this.#maxBytes, signal));
    if (this.#objects.has(name)) {
      throw storeFailure(new Error(`the object ${name} already exists`));
    }
    const bytes = Buffer.concat(chunks);
    this.#objects.set(name, { bytes, storedAt: new Date() });
    return bytes.length;
  }

  async read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    signal.throwIfAborted();
    await Promise.resolve();
    const found = this.#objects.get(name);
    return found && chunkOf(found.bytes);
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await Promise.resolve();
    this.#objects.delete(name);
  }

  cleanUp(): Promise<void> {
    return Promise.resolve();
  }

  async list(signal: AbortSignal) {
    signal.throwIfAborted();
    await Promise.resolve();
    return [...this.#objects].map(([name, { bytes, storedAt }]) => ({
      name,
      sizeBytes: bytes.length,
      storedAt,
    }));
  }
}

async function* chunkOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield Uint8Array.from(bytes);
}
