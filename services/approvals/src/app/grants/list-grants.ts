import { toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Grant, ListGrantsRequest } from "@reeve/contracts/approval";
import { GrantSchema } from "@reeve/contracts/approval";
import type { Page } from "@reeve/jetstream/table/page";
import { pageOf } from "@reeve/jetstream/table/page";
import type { GrantStore } from "./store-grants.ts";
import { unexpiredGrants } from "./store-grants.ts";

/** Returns a page of the grants of a tenant that have not expired, newest first. */
export async function listGrants(
  store: GrantStore,
  tenant: string,
  request: ListGrantsRequest,
  signal: AbortSignal,
): Promise<Page<Grant>> {
  const { agentId, runId } = request;
  const grants = await unexpiredGrants(store, tenant, signal);
  const selected = grants.filter(
    (grant) =>
      (agentId === "" || grant.agentId === agentId) && (runId === "" || grant.runId === runId),
  );
  return pageOf(
    selected,
    request,
    placeOf,
    (key, previous) => key < previous,
    (grant) => toBinary(GrantSchema, grant).length,
  );
}

/** Orders as `unexpiredGrants` does, from the end. */
function placeOf({ grantedAt, grantId }: Grant): string {
  const ms = grantedAt === undefined ? 0 : timestampMs(grantedAt);
  return `${String(ms).padStart(15, "0")}.${grantId}`;
}
