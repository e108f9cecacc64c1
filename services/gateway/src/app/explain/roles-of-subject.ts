import { create } from "@bufbuild/protobuf";
import type { Role } from "@reeve/contracts/access/role";
import { ErrorReason } from "@reeve/contracts/error";
import { ListRunsRequestSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import type { GatewayPorts } from "../gateway-ports.ts";
import { listRuns } from "../list-runs.ts";
import { readRun, runKeyOf } from "../read-run.ts";

/** Returns the roles with which a subject of the tenant started its last run. Throws a Failure if it has none. */
export async function rolesOfSubject(
  { runLists, log }: Pick<GatewayPorts, "runLists" | "log">,
  tenant: string,
  subject: string,
  signal: AbortSignal,
): Promise<readonly Role[]> {
  const request = create(ListRunsRequestSchema, { pageSize: 1, filter: { startedBy: subject } });
  const [last] = (await listRuns(runLists, tenant, request, signal)).items;
  const head = last && (await readRun(log, runKeyOf(tenant, last.runId), signal));
  const roles = head?.created?.startedByRoles ?? [];
  // A version that recorded no roles started the run.
  if (roles.length > 0) return roles;
  throw new Failure(
    "not_found",
    ErrorReason.RUN_NOT_FOUND,
    `"${subject}" has started no run, so the roles are not known; name them instead`,
    { metadata: { subject } },
  );
}
