import { createHash } from "node:crypto";
import { limitedContent } from "./limited-content.ts";
import type { Objects, StoredObject, WrittenObject } from "./port.ts";

/** Objects in memory, which end with the process. An object has at most `maxBytes`. */
export class MemoryObjects implements Objects {
  readonly #maxBytes: number;
  readonly #objects = new Map<string, { readonly bytes: Uint8Array; readonly storedAt: Date }>();

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  async write(
    folder: string,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<WrittenObject> {
    const chunks = await Array.fromAsync(limitedContent(content, this.#maxBytes, signal));
    const bytes = Buffer.concat(chunks);
    const name = `${folder}/${createHash("sha256").update(bytes).digest("hex")}`;
    // Later than before, so that each listing differs from the one before the write.
    const before = this.#objects.get(name)?.storedAt.getTime() ?? 0;
    this.#objects.set(name, { bytes, storedAt: new Date(Math.max(Date.now(), before + 1)) });
    return { name, sizeBytes: bytes.length };
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

  async removeUnchanged(object: StoredObject, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    await Promise.resolve();
    const found = this.#objects.get(object.name);
    if (found?.storedAt.getTime() !== object.storedAt.getTime()) return false;
    return this.#objects.delete(object.name);
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
