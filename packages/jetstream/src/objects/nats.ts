import type { NatsConnection } from "@nats-io/transport-node";
import { payloadCipherOf } from "../sealing/payload-cipher.ts";
import { openIfSealed, sealContent } from "../sealing/sealed-content.ts";
import { limitedContent } from "./limited-content.ts";
import { openBytes } from "./nats-bytes.ts";
import type { Objects } from "./port.ts";

/**
 * Opens an object store, and creates it if it is missing. An object has at most `maxBytes`. The first part of a folder is its tenant.
 * Sealed content differs each time, so equal content is then stored again.
 */
export async function openObjects(
  { connection }: { readonly connection: NatsConnection },
  { bucket, maxBytes }: { readonly bucket: string; readonly maxBytes: number },
): Promise<Objects> {
  const bytes = await openBytes(connection, bucket);
  const cipher = payloadCipherOf(connection);
  const placeOf = (folder: string) => ({
    tenant: folder.split("/")[0] ?? "",
    name: `${bucket}/${folder}`,
  });
  const open = async (name: string, signal: AbortSignal) => {
    const found = await bytes.read(name, signal);
    if (found === undefined) return undefined;
    const place = placeOf(name.slice(0, name.lastIndexOf("/")));
    return openIfSealed(cipher, place, found, signal);
  };
  return {
    async write(folder, content, signal) {
      signal.throwIfAborted();
      const limited = limitedContent(content, maxBytes, signal);
      const chunks = cipher.isOn ? sealContent(cipher, placeOf(folder), limited, signal) : limited;
      const { name, size } = await bytes.writeByDigest(folder, chunks);
      return { name, sizeBytes: size };
    },
    async read(name, signal) {
      const found = await open(name, signal);
      if (found !== undefined) return found;
      // A leader that was cut off lacks what others stored since. Files that count as lost are lost for good.
      await bytes.settle(signal);
      return await open(name, signal);
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
