import type { NatsConnection } from "@nats-io/transport-node";
import { storeFailure } from "../streams/errors.ts";
import { limitedContent } from "./limited-content.ts";
import { openBytes } from "./nats-bytes.ts";
import type { Objects } from "./port.ts";

/** Opens an object store, and creates it if it is missing. An object has at most `maxBytes`. */
export async function openObjects(
  { connection }: { readonly connection: NatsConnection },
  { bucket, maxBytes }: { readonly bucket: string; readonly maxBytes: number },
): Promise<Objects> {
  const bytes = await openBytes(connection, bucket);
  return {
    async write(name, content, signal) {
      signal.throwIfAborted();
      const stored = await bytes.write(name, {}, limitedContent(content, maxBytes, signal));
      if (stored === undefined) {
        throw storeFailure(new Error(`the object ${name} already exists`));
      }
      return stored.size;
    },
    read: (name, signal) => bytes.read(name, signal),
    async remove(name, signal) {
      signal.throwIfAborted();
      await bytes.remove(name);
    },
    cleanUp: (olderThanMs, signal) => bytes.cleanUp(olderThanMs, signal),
    async list(signal) {
      signal.throwIfAborted();
      const found = await bytes.list();
      return found.map(({ name, size, mtime }) => ({
        name,
        sizeBytes: size,
        storedAt: new Date(mtime),
      }));
    },
  };
}
