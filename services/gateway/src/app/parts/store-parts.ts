import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "../gateway-ports.ts";
import type { GivenContent } from "./check-parts.ts";
import { contentKey } from "./check-parts.ts";

type StorePorts = Pick<GatewayPorts, "artifacts" | "artifactQuotas">;

/**
 * Stores the files that came with a request as artifacts of its run: all of them, or none. A repeated request stores nothing again. Returns a
 * function that deletes what was stored. Throws a Failure with reason QUOTA_EXCEEDED if a quota of the principal has no room for them.
 */
export async function storeParts(
  ports: StorePorts,
  principal: Principal,
  key: RunKey,
  contents: readonly GivenContent[],
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const stored: string[] = [];
  const withdraw = async () => {
    for (const id of stored) await ports.artifacts.delete(key.tenant, id, signal);
  };
  try {
    for (const given of contents) {
      if (await storeOne(ports, principal, key, given, signal)) stored.push(given.file.artifactId);
    }
  } catch (error) {
    await withdraw().catch(() => undefined);
    throw error;
  }
  return withdraw;
}

/** Returns whether the file was stored; false: an earlier request had stored it. */
async function storeOne(
  { artifacts, artifactQuotas }: StorePorts,
  principal: Principal,
  { tenant, run }: RunKey,
  { file, content }: GivenContent,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await artifacts.get(tenant, file.artifactId, signal)) !== undefined) return false;
  const { name, mediaType, sha256 } = file;
  const draft = {
    name,
    mediaType,
    runId: run,
    createdBy: principal.subject,
    idempotencyKey: contentKey(run, sha256),
  };
  async function* chunks() {
    yield content;
  }
  const put = (counted: AsyncIterable<Uint8Array>) => artifacts.put(tenant, draft, counted, signal);
  await artifactQuotas.store(principal, chunks(), put, signal);
  return true;
}
