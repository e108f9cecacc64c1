import type { Principal } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "../gateway-ports.ts";
import type { GivenContent, PartsKey } from "./check-parts.ts";
import { contentKey } from "./check-parts.ts";

type StorePorts = Pick<GatewayPorts, "artifacts" | "artifactQuotas">;

/** The files of a request, and for whom they are stored. */
export interface PartsToStore {
  readonly principal: Principal;
  readonly key: PartsKey;
  readonly contents: readonly GivenContent[];
}

/** How long deleting the files of a refused request may take, whether or not its client is still there. */
const withdrawMs = 10_000;

/**
 * Stores the files that came with a request as artifacts of its run: all of them, or none. Returns a function that deletes what was stored,
 * and throws nothing. Throws a Failure with reason QUOTA_EXCEEDED if a quota of the principal has no room for them.
 */
export async function storeParts(
  ports: StorePorts,
  toStore: PartsToStore,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { key, contents } = toStore;
  const stored = new Set<string>();
  const withdraw = async () => {
    // The signal of the request may have aborted: that may be why the files are withdrawn.
    const until = AbortSignal.timeout(withdrawMs);
    for (const id of stored) {
      await ports.artifacts.delete(key.tenant, id, until).catch(() => undefined);
    }
  };
  try {
    for (const given of contents) {
      const { artifactId } = given.file;
      if (stored.has(artifactId)) continue;
      await storeOne(ports, toStore, given, signal);
      stored.add(artifactId);
    }
  } catch (error) {
    await withdraw();
    throw error;
  }
  return withdraw;
}

async function storeOne(
  { artifacts, artifactQuotas }: StorePorts,
  { principal, key }: PartsToStore,
  { file, content }: GivenContent,
  signal: AbortSignal,
): Promise<void> {
  const { name, mediaType, sha256 } = file;
  const draft = {
    name,
    mediaType,
    runId: key.run,
    createdBy: principal.subject,
    idempotencyKey: contentKey(key, sha256),
  };
  async function* chunks() {
    yield content;
  }
  const put = (counted: AsyncIterable<Uint8Array>) =>
    artifacts.put(key.tenant, draft, counted, signal);
  await artifactQuotas.store(principal, chunks(), put, signal);
}
