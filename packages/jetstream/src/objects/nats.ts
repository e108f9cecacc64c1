import type { NatsConnection } from "@nats-io/transport-node";
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
    async write(folder, content, signal) {
      signal.throwIfAborted();
      const chunks = limitedContent(content, maxBytes, signal);
      const { name, size } = await bytes.writeByDigest(folder, chunks);
      return { name, sizeBytes: size };
    },
    async read(name, signal) {
      const found = await bytes.read(name, signal);
      if (found !== undefined) return found;
      // A leader that was cut off lacks what others stored since. Files that count as lost are lost for good.
      await bytes.settle(signal);
      return await bytes.read(name, signal);
    },
    async remove(name, signal) {
      signal.throwIfAborted();
      await bytes.remove(name);
    },
    async removeUnchanged({ name, storedAt }, signal) {
      signal.throwIfAborted();
      return await bytes.removeUnchanged(name, storedAt);
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
