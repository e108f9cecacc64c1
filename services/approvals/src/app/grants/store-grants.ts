import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval, Grant } from "@reeve/contracts/approval";
import { GrantSchema, GrantUseSchema } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import { isUsable } from "@reeve/run/approvals/grants/grant-problem";

const { key: grantKey } = bucketOf(GrantSchema);

/** How many grants of a tenant may be valid. */
const maxGrants = 1_000;
/** How long after the decision a grant is stored: by then, another process has done it for one that crashed. */
const maxStoreDelayMs = 600_000;
/** How many expired grants are deleted when one is made. */
const maxDeleted = 20;
/** How many writers of one grant may be first. */
const maxAttempts = 50;

/** Where grants are, and the time. */
export interface GrantStore {
  readonly grants: Table<Grant>;
  readonly clock: { now(): number };
}

/**
 * Throws a Failure of kind `exhausted` if the tenant has too many grants to make another one. Deletes some that have expired: the logs of
 * runs keep them.
 */
export async function assertRoomForGrant(
  { grants, clock }: GrantStore,
  tenant: string,
  signal: AbortSignal,
): Promise<void> {
  const rows = await grants.list(tenant, signal);
  const expired = rows.filter(({ record }) => hasExpired(record, clock.now()));
  for (const { key, revision } of expired.slice(0, maxDeleted)) {
    await grants.deleteVersion(key, revision, signal);
  }
  if (rows.filter(({ record }) => isValid(record, clock.now())).length < maxGrants) return;
  const message = `there are ${maxGrants} grants already; revoke some, or let them expire`;
  throw new Failure("exhausted", ErrorReason.QUOTA_EXCEEDED, message);
}

/**
 * Stores the grant that the decision of an approval made, if any, unless it is stored, has expired, or is not new: a table that was lost
 * has lost revocations and uses too, which no grant may outlive.
 */
export async function storeGrant(
  { grants, clock }: GrantStore,
  tenant: string,
  { decision }: Pick<Approval, "decision">,
  signal: AbortSignal,
): Promise<void> {
  const grant = decision?.grant;
  if (grant?.grantedAt === undefined || !isValid(grant, clock.now())) return;
  if (clock.now() - timestampMs(grant.grantedAt) > maxStoreDelayMs) return;
  await grants.create(grantKey({ tenant, grant: grant.grantId }), grant, signal);
}

/**
 * Reserves a use of a grant for an approval, and returns the grant with it. Of many that want the last use, one gets it; an approval has
 * one use, however often it is asked for. Undefined: the grant is used up, revoked, or has expired.
 */
export async function reserveUse(
  { grants, clock }: GrantStore,
  tenant: string,
  { grantId, approval }: { readonly grantId: string; readonly approval: Approval },
  signal: AbortSignal,
): Promise<Grant | undefined> {
  const { approvalId, runId } = approval;
  const use = create(GrantUseSchema, {
    approvalId,
    runId,
    usedAt: timestampFromMs(clock.now()),
  });
  return await changeGrant(grants, tenant, grantId, signal, (grant) => {
    if (!isUsable(grant, approvalId, clock.now())) return undefined;
    if (grant.uses.some((each) => each.approvalId === approvalId)) return grant;
    return create(GrantSchema, { ...grant, uses: [...grant.uses, use] });
  });
}

/** Gives back a use that decided nothing, because the approval was closed otherwise. */
export async function releaseUse(
  { grants }: Pick<GrantStore, "grants">,
  tenant: string,
  { grantId, approvalId }: { readonly grantId: string; readonly approvalId: string },
  signal: AbortSignal,
): Promise<void> {
  await changeGrant(grants, tenant, grantId, signal, (grant) => {
    const uses = grant.uses.filter((use) => use.approvalId !== approvalId);
    return uses.length === grant.uses.length ? grant : create(GrantSchema, { ...grant, uses });
  });
}

/** Returns the grants of a tenant that have not expired, newest first. */
export async function unexpiredGrants(
  { grants, clock }: GrantStore,
  tenant: string,
  signal: AbortSignal,
): Promise<readonly Grant[]> {
  const rows = await grants.list(tenant, signal);
  return rows
    .map(({ record }) => record)
    .filter((grant) => !hasExpired(grant, clock.now()))
    .toSorted((a, b) => madeMs(b) - madeMs(a) || (a.grantId < b.grantId ? 1 : -1));
}

function madeMs({ grantedAt }: Grant): number {
  return grantedAt === undefined ? 0 : timestampMs(grantedAt);
}

function isValid(grant: Grant, nowMs: number): boolean {
  return grant.revokedAt === undefined && !hasExpired(grant, nowMs);
}

/** Whether a grant decides nothing more, by its time alone. */
export function hasExpired({ expiresAt }: Grant, nowMs: number): boolean {
  return expiresAt === undefined || timestampMs(expiresAt) <= nowMs;
}

/** Changes a grant as `next` says, against all other writers. Undefined: it does not exist, or `next` refuses. */
export async function changeGrant(
  grants: Table<Grant>,
  tenant: string,
  grantId: string,
  signal: AbortSignal,
  next: (grant: Grant) => Grant | undefined,
): Promise<Grant | undefined> {
  const key = grantKey({ tenant, grant: grantId });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row: Row<Grant> | undefined = await grants.get(key, signal);
    const changed = row && next(row.record);
    if (row === undefined || changed === undefined || changed === row.record) return changed;
    const written = await grants.update(key, changed, row.revision, signal);
    if (written !== undefined) return written.record;
  }
  const message = `grant ${grantId} lost ${maxAttempts} writes to other writers; try again`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
