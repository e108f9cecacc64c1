import { systemSubjects } from "@reeve/jetstream/audit/system-acts";
import type { KeyedChange, Table } from "@reeve/jetstream/table/port";
import { runTogether } from "@reeve/platform/async/run-together";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { runOfApproval } from "@reeve/run/approvals/approval-id";
import { decisionTime, tooEarly } from "@reeve/run/approvals/times/decidable";
import type { GrantOutcome } from "@reeve/run/approvals/grants/decide-by-grant";
import { decideByGrant } from "@reeve/run/approvals/grants/decide-by-grant";
import type { ApprovalPorts } from "../approval-ports.ts";
import { DueTimes } from "../due-times.ts";
import { maxSleepMs, serveDueTimes } from "../serve-due-times.ts";
import { applicableGrants } from "./applicable-grants.ts";
import { OpenRequests } from "./open-requests.ts";
import { releaseUse, reserveUse, storeGrant } from "./store-grants.ts";

export type GrantPorts = Pick<
  ApprovalPorts,
  "inbox" | "grants" | "log" | "dispatch" | "clock" | "times" | "recordAct"
>;

/**
 * Decides pending approvals by the grants that people made: each by a fact in the log of its run. Looks at an approval when it is
 * requested and when a grant is made, and again until the store has answered. What a process had begun before a crash, the
 * next one completes. Rejects if a watch breaks.
 */
export async function applyGrants(
  ports: GrantPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const open = new OpenRequests();
  const due = new DueTimes();
  const look = (keys: readonly string[]) => {
    for (const key of keys) due.set(key, ports.clock.now());
  };
  const work = {
    perform: (key: string, until: AbortSignal) => lookAt(ports, open, key, until),
    failed: "grants were not applied; retrying",
  };
  await runTogether(
    [
      (until) => follow(ports.inbox, (change) => look(open.approvalChanged(change)), until),
      (until) => follow(ports.grants, (change) => look(open.grantChanged(change)), until),
      (until) => serveDueTimes(due, work, { clock: ports.clock, log }, until),
    ],
    signal,
  );
}

async function follow<Record>(
  table: Pick<Table<Record>, "watch">,
  apply: (change: KeyedChange<Record>) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const change of table.watch("", signal)) {
    if (change.kind !== "current") apply(change);
  }
}

/**
 * Decides the approval by the first grant that applies, and completes what grants have to do with a closed one. Returns when to look again, if
 * the call cannot be approved yet.
 */
async function lookAt(
  ports: GrantPorts,
  open: OpenRequests,
  key: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const row = await ports.inbox.get(key, signal);
  if (row === undefined) return undefined;
  const { record: approval } = row;
  const { approvalId } = approval;
  const [tenant = ""] = key.split(".");
  await storeGrant(ports, tenant, approval, signal);
  for (const { grantId } of open.unusedGrants(key, approval)) {
    await releaseUse(ports, tenant, { grantId, approvalId }, signal);
  }
  const run = { tenant, run: runOfApproval(approvalId) };
  const grants = open.grantsFor(key, approval);
  if (grants.length === 0) return undefined;
  const nowMs = ports.clock.now();
  const early = tooEarly(approval, decisionTime({ tenant, times: ports.times() }, nowMs));
  // The policy may change meanwhile.
  if (early !== undefined) return Math.min(early.decidableMs ?? Infinity, nowMs + maxSleepMs);
  let againAtMs: number | undefined;
  for (const { grantId } of await applicableGrants(ports, run, { approval, grants }, signal)) {
    const readMs = ports.clock.now();
    const grant = await reserveUse(ports, tenant, { grantId, approval }, signal);
    if (grant === undefined) continue;
    const resources = [
      { kind: "approval", id: approvalId },
      { kind: "run", id: run.run },
      { kind: "grant", id: grantId },
    ];
    const act = { tenant, subject: systemSubjects.grants, action: "approval.grant", resources };
    let outcome = "open" as GrantOutcome;
    const decide = async () => {
      outcome = await decideByGrant(ports, run, { grant, readMs, approvalId }, signal);
      return outcome === "decided";
    };
    // Several processes may apply it.
    if (await ports.recordAct({ ...act, actId: `grant.${key}` }, decide)) return undefined;
    if (outcome === "closed") await releaseUse(ports, tenant, { grantId, approvalId }, signal);
    // A freeze may have begun meanwhile.
    else againAtMs = nowMs + maxSleepMs;
  }
  return againAtMs;
}
