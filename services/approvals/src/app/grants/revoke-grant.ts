import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Grant } from "@reeve/contracts/approval";
import { GrantSchema } from "@reeve/contracts/approval";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { runOfApproval } from "@reeve/run/approvals/approval-id";
import {
  approvalOfGrant,
  assertGrantId,
  grantNotFound,
} from "@reeve/run/approvals/grants/grant-id";
import { foldRun } from "@reeve/run/commands/fold-run";
import { approvalOf } from "@reeve/run/head/run-head";
import type { GrantStore } from "./store-grants.ts";
import { changeGrant, hasExpired, storeGrant } from "./store-grants.ts";

interface RevokingPorts extends GrantStore {
  readonly log: Pick<RunLog, "read">;
  /** Called when the grant is revoked by this call, and was not before. */
  readonly onRevoked?: () => void;
}

/**
 * Revokes a grant, and returns it. Also one whose decision is in the log of its run and that is not stored yet: another process would
 * store it, valid. Throws a Failure of kind `not_found` if there is none, or it has expired.
 */
export async function revokeGrant(
  ports: RevokingPorts,
  tenant: string,
  { grantId, revokedBy }: { readonly grantId: string; readonly revokedBy: string },
  signal: AbortSignal,
): Promise<Grant> {
  assertGrantId(grantId);
  const { grants, clock } = ports;
  const revokedAt = timestampFromMs(clock.now());
  const revoke = async () => {
    let isNew = false;
    const changed = await changeGrant(grants, tenant, grantId, signal, (grant) => {
      if (hasExpired(grant, clock.now())) return undefined;
      isNew = grant.revokedAt === undefined;
      return isNew ? create(GrantSchema, { ...grant, revokedBy, revokedAt }) : grant;
    });
    if (isNew && changed !== undefined) ports.onRevoked?.();
    return changed;
  };
  const stored = await revoke();
  if (stored !== undefined) return stored;
  await storeFromLog(ports, tenant, grantId, signal);
  const revoked = await revoke();
  if (revoked === undefined) throw grantNotFound(grantId);
  return revoked;
}

async function storeFromLog(
  ports: RevokingPorts,
  tenant: string,
  grantId: string,
  signal: AbortSignal,
): Promise<void> {
  const approvalId = approvalOfGrant(grantId);
  const run = { tenant, run: runOfApproval(approvalId) };
  const { events } = await ports.log.read(run, emptyTail, signal);
  const approval = approvalOf(await foldRun(events, signal), approvalId);
  if (approval !== undefined) await storeGrant(ports, tenant, approval, signal);
}
