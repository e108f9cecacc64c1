import { randomBytes } from "node:crypto";
import { create, equals, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  Firing,
  Trigger,
  TriggerFirings,
  TriggerOwner,
  TriggerRecord,
  TriggerSpec,
} from "@reeve/contracts/trigger";
import {
  TriggerFiringsSchema,
  TriggerOwnerSchema,
  TriggerRecordSchema,
  TriggerSchema,
  TriggerSpecSchema,
  TriggerState,
} from "@reeve/contracts/trigger";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { pageOf } from "@reeve/jetstream/table/page";
import { Failure } from "@reeve/platform/failure";
import type { Credential } from "@reeve/platform/rpc/principal";
import { checkTrigger, sourceChanged } from "./check-trigger.ts";
import { withNextFiring } from "./schedule/next-firing.ts";
import { withOwnerFound, withoutStarts } from "./stop-trigger.ts";
import { revisionConflict, triggerExists, withoutWebhook } from "./trigger-failures.ts";
import type { TriggerPorts } from "./trigger-ports.ts";
import type { TriggerKey } from "./trigger-records.ts";
import {
  changeTrigger,
  deleteFirings,
  readFirings,
  readTrigger,
  triggerKeyOf,
  triggerNotFound,
} from "./trigger-records.ts";
import type { IssuedSecret } from "./webhook/webhook-secrets.ts";
import { issueSecret, ownedBy, rotated } from "./webhook/webhook-secrets.ts";

const { key: firingsKey } = bucketOf(TriggerFiringsSchema);

/** Stores a new trigger of a caller. Returns it with the secret of its webhook, or "" if it has none. */
export async function createTrigger(
  ports: TriggerPorts,
  caller: Credential,
  spec: TriggerSpec,
  signal: AbortSignal,
): Promise<{ readonly trigger: Trigger; readonly webhookSecret: string }> {
  const { tenant } = caller;
  ports.gateway.assertRoom();
  await checkTrigger(ports, tenant, spec, signal);
  const nowMs = ports.clock.now();
  const now = timestampFromMs(nowMs);
  const isHook = spec.source.case === "webhook";
  const issued: IssuedSecret | undefined = isHook ? issueSecret() : undefined;
  const trigger = create(TriggerSchema, {
    spec,
    revision: 1,
    createdAt: now,
    updatedAt: now,
    owner: ownerOf(caller, nowMs),
    state: TriggerState.ACTIVE,
    hookPath: isHook ? `/v1/hooks/${tenant}/${spec.triggerId}` : "",
  });
  const record = create(TriggerRecordSchema, {
    tenant,
    trigger: withNextFiring(trigger, nowMs),
    uid: randomBytes(12).toString("hex"),
    secrets: issued === undefined ? [] : [issued.secret],
  });
  const key = triggerKeyOf({ tenant, trigger: spec.triggerId });
  await assertQuota(ports, caller, 1, signal);
  const row = await ports.records.create(key, record, signal);
  if (row === undefined) throw triggerExists(spec.triggerId);
  try {
    // Again, for those that were created at the same time.
    await assertQuota(ports, caller, 0, signal);
  } catch (error) {
    await ports.records.deleteVersion(key, row.revision, signal);
    throw error;
  }
  return { trigger: record.trigger ?? trigger, webhookSecret: issued?.text ?? "" };
}

/**
 * Replaces the spec of a trigger. The caller becomes its owner, and secrets of another owner lose their validity. Throws a Failure if its
 * revision is another one.
 */
export async function updateTrigger(
  ports: TriggerPorts,
  caller: Credential,
  { spec, revision }: { readonly spec: TriggerSpec; readonly revision: number },
  signal: AbortSignal,
): Promise<Trigger> {
  const { tenant } = caller;
  ports.gateway.assertRoom();
  await checkTrigger(ports, tenant, spec, signal);
  const nowMs = ports.clock.now();
  const key = { tenant, trigger: spec.triggerId };
  const change = (trigger: Trigger) => {
    if (revision !== 0 && revision !== trigger.revision) {
      throw revisionConflict(spec.triggerId, trigger.revision);
    }
    if (trigger.spec?.source.case !== spec.source.case) throw sourceChanged(spec.triggerId);
    const updated = {
      ...trigger,
      spec,
      revision: trigger.revision + 1,
      updatedAt: timestampFromMs(nowMs),
    };
    // Another input does not move the next firing, which may be due already.
    return hasSameSource(trigger.spec, spec) ? updated : withNextFiring(updated, nowMs);
  };
  return await takeTrigger(ports, key, ownerOf(caller, nowMs), change, signal);
}

/** Pauses a trigger. A firing that was decided, and that no gateway has started within seconds, starts no run. */
export async function pauseTrigger(
  ports: TriggerPorts,
  key: TriggerKey,
  signal: AbortSignal,
): Promise<Trigger> {
  const nowMs = ports.clock.now();
  const pause = ({ trigger, pending, ...rest }: TriggerRecord) => {
    if (trigger?.state !== TriggerState.ACTIVE) return undefined;
    const paused = withNextFiring({ ...trigger, state: TriggerState.PAUSED }, nowMs);
    const problem = "the trigger was paused before the run started";
    return { ...rest, trigger: paused, pending: withoutStarts(pending, problem, nowMs) };
  };
  const record = await changeTrigger(ports, key, pause, signal);
  return withLastFiring(record, await readFirings(ports, key, record.uid, signal));
}

/** Lets a trigger fire again. The caller becomes its owner, and secrets of another owner lose their validity. */
export async function resumeTrigger(
  ports: TriggerPorts,
  caller: Credential,
  triggerId: string,
  signal: AbortSignal,
): Promise<Trigger> {
  const nowMs = ports.clock.now();
  const change = (trigger: Trigger) => {
    // A time of an active trigger that is due stays due.
    if (trigger.state === TriggerState.ACTIVE) return trigger;
    return withNextFiring({ ...trigger, state: TriggerState.ACTIVE, stopReason: "" }, nowMs);
  };
  const key = { tenant: caller.tenant, trigger: triggerId };
  return await takeTrigger(ports, key, ownerOf(caller, nowMs), change, signal);
}

/**
 * Replaces the secret of a trigger, and returns its text. The caller becomes its owner: a sender that has the text starts runs of the
 * owner, so that nobody may get the text for runs of another person. The secret before stays valid for a day if the owner is the same.
 */
export async function rotateSecret(
  ports: TriggerPorts,
  caller: Credential,
  triggerId: string,
  signal: AbortSignal,
): Promise<string> {
  const nowMs = ports.clock.now();
  const { secret, text } = issueSecret();
  const change = (before: TriggerRecord) => {
    if (before.trigger?.spec?.source.case !== "webhook") throw withoutWebhook(triggerId);
    const taken = ownedBy(before, ownerOf(caller, nowMs));
    return withOwnerFound({ ...taken, secrets: rotated(taken.secrets, secret, nowMs) });
  };
  await changeTrigger(ports, { tenant: caller.tenant, trigger: triggerId }, change, signal);
  return text;
}

/** Deletes a trigger and its history. */
export async function deleteTrigger(
  ports: TriggerPorts,
  key: TriggerKey,
  signal: AbortSignal,
): Promise<void> {
  const row = await ports.records.get(triggerKeyOf(key), signal);
  if (row === undefined) throw triggerNotFound(key.trigger);
  // The history first: a deletion that is interrupted is repeated. And last: a firing may have been in progress.
  await deleteFirings(ports, key, signal);
  await ports.records.delete(triggerKeyOf(key), signal);
  await deleteFirings(ports, key, signal);
}

/** Returns a trigger with its last firing. */
export async function getTrigger(
  ports: TriggerPorts,
  key: TriggerKey,
  signal: AbortSignal,
): Promise<Trigger> {
  const { record } = await readTrigger(ports, key, signal);
  const firings = await readFirings(ports, key, record.uid, signal);
  return withLastFiring(record, firings);
}

/** Returns a page of the triggers of a tenant, ordered by id. */
export async function listTriggers(
  ports: TriggerPorts,
  tenant: string,
  request: PageRequest,
  signal: AbortSignal,
): Promise<Page<Trigger>> {
  const rows = await ports.records.list(tenant, signal);
  const page = pageOf(
    rows.map(({ record }) => record),
    request,
    idOf,
    (id, previous) => id > previous,
    (record) => toBinary(TriggerRecordSchema, record).length,
  );
  const histories = await ports.firings.list(tenant, signal);
  const byKey = new Map<string, TriggerFirings>(histories.map(({ key, record }) => [key, record]));
  const items = page.items.map((record) => {
    const history = byKey.get(firingsKey({ tenant, trigger: idOf(record) }));
    return withLastFiring(record, history?.uid === record.uid ? history.firings : []);
  });
  return { ...page, items };
}

/** Makes a caller the owner of a trigger, and changes it. The change may throw. */
async function takeTrigger(
  ports: TriggerPorts,
  key: TriggerKey,
  owner: TriggerOwner,
  change: (before: Trigger) => Trigger,
  signal: AbortSignal,
): Promise<Trigger> {
  const record = await changeTrigger(
    ports,
    key,
    ({ trigger, ...rest }) =>
      trigger && withOwnerFound(ownedBy({ ...rest, trigger: change(trigger) }, owner)),
    signal,
  );
  const firings = await readFirings(ports, key, record.uid, signal);
  return withLastFiring(record, firings);
}

function withLastFiring({ trigger }: TriggerRecord, firings: readonly Firing[]): Trigger {
  const lastFiring = firings.at(-1);
  return { ...create(TriggerSchema), ...trigger, ...(lastFiring && { lastFiring }) };
}

function hasSameSource(before: TriggerSpec | undefined, after: TriggerSpec): boolean {
  const { source } = after;
  return before !== undefined && equals(TriggerSpecSchema, { ...before, source }, before);
}

function ownerOf({ subject, kind = "token", roles }: Credential, nowMs: number) {
  return create(TriggerOwnerSchema, {
    subject,
    credentialKind: kind,
    roles: [...roles],
    confirmedAt: timestampFromMs(nowMs),
  });
}

async function assertQuota(
  { records, maxTriggers: max }: TriggerPorts,
  { tenant }: Credential,
  added: number,
  signal: AbortSignal,
): Promise<void> {
  const rows = await records.list(tenant, signal);
  if (rows.length + added <= max) return;
  throw new Failure(
    "exhausted",
    ErrorReason.QUOTA_EXCEEDED,
    `tenant ${tenant} may have ${max} triggers; delete one, or ask the operator for more`,
    { metadata: { quota: "triggers", limit: "triggers", max: String(max) } },
  );
}

function idOf({ trigger }: TriggerRecord): string {
  return trigger?.spec?.triggerId ?? "";
}
