import { once } from "node:events";
import type { Writable } from "node:stream";

/**
 * Gives `from` to a command. A command that does not read all of it, or is gone, is no mistake; what `from` itself throws
 * is thrown.
 */
export async function giveInput(
  to: Writable,
  from: Uint8Array | AsyncIterable<Uint8Array> | undefined,
): Promise<void> {
  to.on("error", () => undefined);
  const chunks = from === undefined ? [] : from instanceof Uint8Array ? [from] : from;
  for await (const chunk of chunks) {
    if (!to.writable) return;
    if (!to.write(chunk)) {
      await Promise.race([once(to, "drain"), once(to, "close")]).catch(() => undefined);
    }
  }
  to.end();
}
