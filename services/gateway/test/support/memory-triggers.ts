import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Firing, Trigger, TriggerFirings, TriggerRecord } from "@reeve/contracts/trigger";
import { TriggerSpecSchema } from "@reeve/contracts/trigger";
import { unrecorded } from "@reeve/jetstream/audit/system-acts";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { allRoles } from "@reeve/platform/rpc/roles";
import type { Role } from "@reeve/contracts/access/role";
import { createTrigger } from "../../src/app/triggers/manage-triggers.ts";
import { triggerKeyOf } from "../../src/app/triggers/trigger-records.ts";
import { ownerChecks } from "../../src/app/triggers/owner-check.ts";
import type { ReceivePorts } from "../../src/app/triggers/webhook/receive-webhook.ts";
import { RequestRate } from "../../src/quotas/request-rate.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { ann } from "./memory-ports.ts";
import { withAgent } from "./started-runs.ts";

const never = new AbortController().signal;

/** The key of the trigger in the tests. */
export const nightly = { tenant: "acme", trigger: "nightly" } as const;

/** Friday, 10:00 UTC. */
export const startMs = Date.parse("2026-11-27T10:00:00Z");
export const hourMs = 3_600_000;

/** The ports of triggers in memory, with a clock that tests set. Another gateway has the same tables. */
export interface MemoryTriggers extends ReceivePorts {
  readonly gateway: MemoryPorts;
  readonly records: MemoryTable<TriggerRecord>;
  readonly firings: MemoryTable<TriggerFirings>;
  /** Milliseconds since the epoch. */
  nowMs: number;
  /** The roles of the subjects that exist. Each test may change them. */
  readonly subjects: Map<string, ReadonlySet<Role>>;
  /** What `known` returns. */
  view: readonly TriggerRecord[];
}

/** Opens ports with the agent `writer`. */
export async function memoryTriggers(): Promise<MemoryTriggers> {
  const gateway = await withAgent();
  const subjects = new Map<string, ReadonlySet<Role>>([["ann", allRoles]]);
  const directory = {
    find: ({ subject }: { readonly subject: string }) => {
      const roles = subjects.get(subject);
      return roles === undefined ? [] : [{ roles }];
    },
  };
  const ports: MemoryTriggers = {
    gateway,
    records: new MemoryTable(),
    firings: new MemoryTable(),
    nowMs: startMs,
    subjects,
    view: [],
    known: Object.assign(() => ports.view, {
      get: (key: string) => ports.view.find((record) => keyOf(record) === key),
    }),
    clock: { now: () => ports.nowMs },
    owners: ownerChecks(directory, { now: () => ports.nowMs }),
    minIntervalMs: 60_000,
    maxTriggers: 3,
    recordAct: unrecorded,
    rate: new RequestRate({ now: () => ports.nowMs }),
  };
  return ports;
}

function keyOf({ tenant, trigger }: TriggerRecord): string {
  return triggerKeyOf({ tenant, trigger: trigger?.spec?.triggerId ?? "" });
}

/** Returns the ports of a gateway whose settings lack a subject. */
export function without(ports: MemoryTriggers, subject: string): MemoryTriggers {
  const { check } = ports.owners;
  const owners: MemoryTriggers["owners"] = {
    check: (tenant, owner) =>
      owner?.subject === subject
        ? { kind: "missing", problem: `the owner ${subject} does not exist anymore` }
        : check(tenant, owner),
  };
  return { ...ports, owners };
}

type SpecInit = MessageInitShape<typeof TriggerSpecSchema>;

/** A trigger of every hour, or what a test makes of it. */
export function specOf(changes: SpecInit = {}) {
  return create(TriggerSpecSchema, {
    triggerId: "nightly",
    agentId: "writer",
    input: "report of {{time}}",
    source: { case: "schedule", value: { cron: "0 * * * *" } },
    ...changes,
  });
}

/** Stores the trigger, and returns it with its secret. */
export async function storeTrigger(
  ports: MemoryTriggers,
  changes: SpecInit = {},
): Promise<{ readonly trigger: Trigger; readonly webhookSecret: string }> {
  return await createTrigger(ports, ann, specOf(changes), never);
}

/** Returns the history of the trigger, oldest first. */
export async function firingsOf(ports: MemoryTriggers): Promise<readonly Firing[]> {
  return (await ports.firings.get("acme.nightly", never))?.record.firings ?? [];
}
