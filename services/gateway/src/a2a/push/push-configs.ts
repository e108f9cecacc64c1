import { randomUUID } from "node:crypto";
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { PushReceiver, TaskPushes } from "@reeve/contracts/a2a";
import { PushReceiverSchema, TaskPushesSchema } from "@reeve/contracts/a2a";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { PushPorts, TaskKey } from "./push-ports.ts";
import { pushesKeyOf } from "./push-ports.ts";
import { headersOf } from "./push-target.ts";

const maxReceivers = 10;
const maxText = 4_096;
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
  for (const [name, text] of Object.entries(texts)) {
    if (text.length > maxText) throw malformed(`${name} has more than ${maxText} characters`);
  }
  if (id.length > maxId) throw malformed(`id has more than ${maxId} characters`);
  target.assertPermitted(url);
  headersOf(texts);
  return create(PushReceiverSchema, { configId: id || randomUUID(), ...texts });
}

/** Stores a receiver of the notifications of a task, or replaces the one with its id. Returns it with its id. */
export async function createConfig(
  { records, target, clock }: Pick<PushPorts, "records" | "target" | "clock">,
  task: TaskKey & { readonly agentId: string },
  given: TaskPushNotificationConfig,
  signal: AbortSignal,
): Promise<TaskPushNotificationConfig> {
  const receiver = checkedReceiver({ target }, given);
  const { tenant, runId, agentId } = task;
  await changePushes(
    records,
    task,
    (before) => {
      const others = before?.receivers.filter(({ configId }) => configId !== receiver.configId);
      const receivers = [...(others ?? []), receiver];
      if (receivers.length > maxReceivers) {
        const problem = `task ${runId} has ${maxReceivers} push notification configurations, which is the limit; delete one`;
        throw malformed(problem);
      }
      const createdAt = before?.createdAt ?? timestampFromMs(clock.now());
      return create(TaskPushesSchema, { tenant, runId, agentId, receivers, createdAt });
    },
    signal,
  );
  return configOf(task, receiver);
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

/** Deletes a configuration of a task. A missing one is not an error. */
export async function deleteConfig(
  { records }: Pick<PushPorts, "records">,
  task: TaskKey,
  configId: string,
  signal: AbortSignal,
): Promise<void> {
  await changePushes(
    records,
    task,
    (before) => {
      const receivers = before?.receivers.filter((each) => each.configId !== configId) ?? [];
      if (before === undefined || receivers.length === before.receivers.length) return undefined;
      return create(TaskPushesSchema, { ...before, receivers });
    },
    signal,
  );
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

/** The credentials are not repeated: who reads a configuration need not be who created it. */
function configOf({ runId: taskId }: TaskKey, receiver: PushReceiver): TaskPushNotificationConfig {
  const { configId: id, url, token, scheme } = receiver;
  const authentication = scheme === "" ? undefined : { scheme, credentials: "" };
  return { tenant: "", id, taskId, url, token, authentication };
}

function malformed(message: string): RequestMalformedError {
  return new RequestMalformedError({ message });
}
