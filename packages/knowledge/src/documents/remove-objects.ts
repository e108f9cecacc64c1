import type { Objects } from "@reeve/jetstream/objects/port";

const maxRemovalMs = 30_000;

/** Removes objects that no row has, whether or not the caller left. What fails is left for `sweepTexts`. */
export async function removeObjects(
  objects: Pick<Objects, "remove">,
  names: readonly string[],
): Promise<void> {
  const limit = AbortSignal.timeout(maxRemovalMs);
  await Promise.allSettled(names.map((name) => objects.remove(name, limit)));
}
