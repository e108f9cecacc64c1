import { randomUUID } from "node:crypto";
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { PushReceiver, TaskPushes } from "@reeve/contracts/a2a";
import { PushReceiverSchema, TaskPushesSchema } from "@reeve/contracts/a2a";
import { ErrorReason } from "@reeve/contracts/error";
import type { SystemAct } from "@reeve/jetstream/audit/system-acts";
import { Failure } from "@reeve/platform/failure";
import type { PushCaller, PushPorts, TaskKey } from "./push-ports.ts";
import { pushesKeyOf } from "./push-ports.ts";
import { headersOf } from "./push-target.ts";

const maxReceivers = 10;
/** All gateways hold the configurations of all tasks in memory. */
const maxOfTenant = 2_000;
const maxLengths = { url: 2_048, token: 1_024, scheme: 64, credentials: 2_048 };
const maxId = 128;
/** How often a change is tried again after a concurrent one. */
const maxAttempts = 20;

/** Returns a receiver as it is stored. Throws an A2AError or a Failure if it cannot be. */
export function checkedReceiver(
  { target }: Pick<PushPorts, "target">,
  { id, url, token, authentication }: TaskPushNotificationConfig,
): PushReceiver {
  const { scheme = "", credentials = "" } = authentication ?? {};
  const texts = { url, token, scheme, credentials };
  for (const name of ["url", "token", "scheme", "credentials"] as const) {
    const max = maxLengths[name];
    if (texts[name].length > max) throw malformed(`${name} has more than ${max} characters`);
  }
  if (id.length > maxId) throw malformed(`id has more than ${maxId} characters`);
  target.assertPermitted(url);
  headersOf(texts);
  return create(PushReceiverSchema, { configId: id || randomUUID(), ...texts });
}

/** What a change of configurations needs. */
type ChangePorts = Pick<PushPorts, "records" | "known" | "target" | "clock" | "recordAct">;

/** Who changes the configurations of a task of an agent. */
export interface TaskChange extends TaskKey {
  readonly agentId: string;
  readonly caller: PushCaller;
}

/**
 * Stores a receiver of the notifications of a task, or replaces the one with its id. Returns it with its id. One that is there already, with
 * the same id or without one, stays as it is: a client that repeats its request gets nothing twice. Records the change in the audit trail.
 */
export async function createConfig(
  { records, known, target, clock, recordAct }: ChangePorts,
  task: TaskChange,
  given: TaskPushNotificationConfig,
  signal: AbortSignal,
): Promise<TaskPushNotificationConfig> {
  const receiver = checkedReceiver({ target }, given);
  const { tenant, runId, agentId } = task;
  let stored = receiver;
  await recordAct(actOf("push_config.create", task, receiver.configId), async () => {
    const put = (before: TaskPushes | undefined) => {
      const all = before?.receivers ?? [];
      const repeated = all.find((each) => isRepeated(each, receiver, given.id));
      stored = repeated ?? receiver;
      if (repeated !== undefined) return undefined;
      const others = all.filter(({ configId }) => configId !== receiver.configId);
      if (others.length === all.length) assertRoom({ known }, tenant);
      const receivers = [...others, receiver];
      if (receivers.length > maxReceivers) {
        const problem = `task ${runId} has ${maxReceivers} push notification configurations, which is the limit; delete one`;
        throw malformed(problem);
      }
      const createdAt = before?.createdAt ?? timestampFromMs(clock.now());
      return create(TaskPushesSchema, { tenant, runId, agentId, receivers, createdAt });
    };
    await changePushes(records, task, put, signal);
    return stored === receiver;
  });
  return configOf(task, stored);
}

/** Whether a receiver is what a request would store. `id` is the one of the request. Empty: any. */
function isRepeated(known: PushReceiver, given: PushReceiver, id: string): boolean {
  const { url, token, scheme, credentials } = known;
  return (
    (id === "" || known.configId === id) &&
    url === given.url &&
    token === given.token &&
    scheme === given.scheme &&
    credentials === given.credentials
  );
}

/** Throws a Failure if a tenant has as many configurations as it may have. */
export function assertRoom({ known }: Pick<PushPorts, "known">, tenant: string): void {
  const own = known().filter((each) => each.tenant === tenant);
  const count = own.reduce((sum, { receivers }) => sum + receivers.length, 0);
  if (count < maxOfTenant) return;
  const message = `tenant ${tenant} has ${maxOfTenant} push notification configurations of tasks that have not ended, or whose end is not delivered; delete one`;
  const metadata = { limit: "push_configs", max: String(maxOfTenant) };
  throw new Failure("exhausted", ErrorReason.QUOTA_EXCEEDED, message, { metadata });
}

function actOf(action: string, { tenant, runId, caller }: TaskChange, configId: string): SystemAct {
  const resources = [
    { kind: "run", id: runId },
    { kind: "push_config", id: configId },
  ];
  return { tenant, action, resources, ...caller };
}

/** Returns the configurations of a task, oldest first. */
export async function listConfigs(
  { records }: Pick<PushPorts, "records">,
  task: TaskKey,
  signal: AbortSignal,
): Promise<TaskPushNotificationConfig[]> {
  const row = await records.get(pushesKeyOf(task), signal);
  return (row?.record.receivers ?? []).map((receiver) => configOf(task, receiver));
}

/** Returns a configuration of a task. Throws an A2AError if there is none. */
export async function getConfig(
  ports: Pick<PushPorts, "records">,
  task: TaskKey,
  configId: string,
  signal: AbortSignal,
): Promise<TaskPushNotificationConfig> {
  const configs = await listConfigs(ports, task, signal);
  const found = configs.find(({ id }) => id === configId);
  if (found !== undefined) return found;
  const message = `task ${task.runId} has no push notification configuration ${configId.slice(0, maxId)}; list them for their ids`;
  throw new TaskNotFoundError({ message });
}

/** Deletes a configuration of a task. A missing one is not an error. Records the change in the audit trail. */
export async function deleteConfig(
  { records, recordAct }: Pick<PushPorts, "records" | "recordAct">,
  task: TaskChange,
  configId: string,
  signal: AbortSignal,
): Promise<void> {
  await recordAct(actOf("push_config.delete", task, configId), async () => {
    let isDeleted = false;
    const remove = (before: TaskPushes | undefined) => {
      const receivers = before?.receivers.filter((each) => each.configId !== configId) ?? [];
      isDeleted = before !== undefined && receivers.length < before.receivers.length;
      if (before === undefined || !isDeleted) return undefined;
      return create(TaskPushesSchema, { ...before, receivers });
    };
    await changePushes(records, task, remove, signal);
    return isDeleted;
  });
}

/**
 * Replaces the notifications of a task by what `change` makes of them, again after each concurrent change. `change` returns undefined for
 * no change. Notifications without a receiver are deleted.
 */
export async function changePushes(
  records: PushPorts["records"],
  task: TaskKey,
  change: (before: TaskPushes | undefined) => TaskPushes | undefined,
  signal: AbortSignal,
): Promise<void> {
  const key = pushesKeyOf(task);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await records.get(key, signal);
    const after = change(row?.record);
    if (after === undefined) return;
    const isEmpty = after.receivers.length === 0;
    const isWritten =
      row === undefined
        ? isEmpty || (await records.create(key, after, signal)) !== undefined
        : isEmpty
          ? await records.deleteVersion(key, row.revision, signal)
          : (await records.update(key, after, row.revision, signal)) !== undefined;
    if (isWritten) return;
  }
  const message = `the push notifications of task ${task.runId} are changed by many requests at the same time; retry`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

/** Token and credentials are not repeated: who reads a configuration need not be who created it. */
function configOf({ runId: taskId }: TaskKey, receiver: PushReceiver): TaskPushNotificationConfig {
  const { configId: id, url, scheme } = receiver;
  const authentication = scheme === "" ? undefined : { scheme, credentials: "" };
  return { tenant: "", id, taskId, url, token: "", authentication };
}

function malformed(message: string): RequestMalformedError {
  return new RequestMalformedError({ message });
}
