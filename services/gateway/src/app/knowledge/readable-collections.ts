import type { RunCreated, StartRunRequest } from "@reeve/contracts/run";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "../gateway-ports.ts";

/** Returns what the start of a run records of its collections. Throws a Failure if the caller may not read one of them. */
export async function readableCollections(
  { knowledge }: Pick<GatewayPorts, "knowledge">,
  principal: Principal,
  { collections }: Pick<StartRunRequest, "collections">,
  signal: AbortSignal,
): Promise<Pick<RunCreated, "collections" | "collectionsRestricted">> {
  const found = await Promise.all(
    collections.map((each) => knowledge.readable(principal, each, signal)),
  );
  const collectionsRestricted = found.some(({ readers }) => readers.length > 0);
  return { collections: [...collections], collectionsRestricted };
}
