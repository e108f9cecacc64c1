import { StreamResponse, TaskState } from "@a2a-js/sdk";
import { create, equals } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { PushReceiver, TaskPushes } from "@reeve/contracts/a2a";
import { PushReceiverSchema, TaskPushesSchema } from "@reeve/contracts/a2a";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { isTerminal } from "@reeve/run/head/run-status";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { renderRow } from "../task/render-task.ts";
import { changePushes } from "./push-configs.ts";
import type { PushPorts, TaskKey } from "./push-ports.ts";
import { pushesKeyOf } from "./push-ports.ts";

/** How long a gateway may take for an attempt before another one makes it. */
const claimMs = 60_000;
/** The delays between the attempts to deliver a state: they double. */
const firstDelayMs = 5_000;
const maxDelayMs = 3_600_000;
const maxAttempts = 16;
/** How long the index of runs may lack a task. */
const maxUnknownMs = 600_000;

const { key: runKey } = bucketOf(RunSchema);

/** A state of a task that its receivers are told. */
interface DueState {
  readonly name: string;
  readonly run: Run;
}

/**
 * Delivers what is due of the notifications of a task: that it needs input, or its end, once to each receiver, as far as the index of runs
 * says, and never an earlier state after a later one. May run anywhere any number of times; a receiver gets a notification again only if a
 * gateway dies between the delivery and its record.
 */
export async function deliverDue(
  ports: PushPorts,
  task: TaskKey,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<void> {
  const { records, clock } = ports;
  const key = pushesKeyOf(task);
  const row = await records.get(key, signal);
  if (row === undefined) return;
  const run = await runOf(ports, task, signal);
  if (run === undefined) {
    const { createdAt } = row.record;
    const isGone = clock.now() - (createdAt ? timestampMs(createdAt) : 0) > maxUnknownMs;
    if (isGone) await records.deleteVersion(key, row.revision, signal);
    return;
  }
  let due = dueOf(run);
  for (const { configId, settled } of row.record.receivers) {
    if (due === undefined) return;
    if (settled === due.name) continue;
    const receiver = await claim(ports, task, { configId, due }, signal);
    if (receiver === undefined) continue;
    const attempt = await ports.target.post(receiver, bodyOf(due.run), signal);
    if (attempt.kind !== "delivered") {
      const { problem } = attempt;
      log.warn({ ...task, configId, problem }, "an A2A push notification was not delivered");
    }
    const isOver = attempt.kind !== "unavailable" || receiver.attempts >= maxAttempts;
    const after = isOver ? { settled: due.name, attempts: 0 } : later(ports, receiver);
    await changeReceiver(
      ports,
      task,
      configId,
      (now) => (isSameClaim(now, receiver) ? { ...after, claimedUntil: undefined } : undefined),
      signal,
    );
    // An attempt takes seconds, in which the task may have continued.
    due = dueOf(await runOf(ports, task, signal));
  }
  if (due !== undefined && isTerminal(due.run.status)) {
    await dropSettled(ports, task, due.name, signal);
  }
}

async function runOf({ runs }: PushPorts, { tenant, runId: run }: TaskKey, signal: AbortSignal) {
  return (await runs.get(runKey({ tenant, run }), signal))?.record;
}

/** Returns the state of a task that its receivers are told. Undefined: it is one that they are not. */
function dueOf(run: Run | undefined): DueState | undefined {
  if (run === undefined) return undefined;
  if (isTerminal(run.status)) return { name: `ended ${run.status}`, run };
  if (renderRow(run).status?.state !== TaskState.TASK_STATE_INPUT_REQUIRED) return undefined;
  return { name: `input ${run.waitingFor.map(({ id }) => id).join(" ")}`, run };
}

/** A notification has the state. The answer is for those who may read the task. */
function bodyOf(run: Run): string {
  const { id: taskId, contextId, status } = renderRow(run);
  const value = { taskId, contextId, status, metadata: undefined };
  return JSON.stringify(StreamResponse.toJSON({ payload: { $case: "statusUpdate", value } }));
}

interface Delivery {
  readonly configId: string;
  readonly due: DueState;
}

type Change = Partial<Omit<PushReceiver, "$typeName" | "$unknown">>;

/** Takes a delivery for this gateway. Undefined: it is settled, or it is not its time. */
async function claim(
  ports: PushPorts,
  task: TaskKey,
  { configId, due: { name: due, run } }: Delivery,
  signal: AbortSignal,
): Promise<PushReceiver | undefined> {
  const nowMs = ports.clock.now();
  const isLater = (time: Timestamp | undefined) => time !== undefined && timestampMs(time) > nowMs;
  const take = (before: PushReceiver): Change | undefined => {
    const { settled, dueSequence, claimedUntil, notBefore } = before;
    const isRepeated = before.due === due;
    if (settled === due || dueSequence > run.lastSequence) return undefined;
    // The delays are those of one state: the end of a task does not wait for what came before it.
    if (isLater(claimedUntil) || (isRepeated && isLater(notBefore))) return undefined;
    return {
      due,
      dueSequence: run.lastSequence,
      attempts: isRepeated ? before.attempts + 1 : 1,
      notBefore: undefined,
      claimedUntil: timestampFromMs(nowMs + claimMs),
    };
  };
  return await changeReceiver(ports, task, configId, take, signal);
}

/** Whether a receiver was neither replaced nor claimed by another gateway since a claim. */
function isSameClaim(now: PushReceiver, claimed: PushReceiver): boolean {
  return equals(PushReceiverSchema, now, claimed);
}

/** The next attempt after one that failed. */
function later({ clock }: Pick<PushPorts, "clock">, { attempts }: PushReceiver): Change {
  const delayMs = Math.min(firstDelayMs * 2 ** (attempts - 1), maxDelayMs);
  return { notBefore: timestampFromMs(clock.now() + delayMs) };
}

/** Changes a receiver. Returns it as it is then; undefined if nothing changed. */
async function changeReceiver(
  { records }: Pick<PushPorts, "records">,
  task: TaskKey,
  configId: string,
  change: (before: PushReceiver) => Change | undefined,
  signal: AbortSignal,
): Promise<PushReceiver | undefined> {
  let changed: PushReceiver | undefined;
  const replace = (before: TaskPushes | undefined): TaskPushes | undefined => {
    changed = undefined;
    const known = before?.receivers.find((each) => each.configId === configId);
    if (before === undefined || known === undefined) return undefined;
    const after = change(known);
    if (after === undefined) return undefined;
    changed = create(PushReceiverSchema, { ...known, ...after });
    const receivers = before.receivers.map((each) => (each === known && changed ? changed : each));
    return create(TaskPushesSchema, { ...before, receivers });
  };
  await changePushes(records, task, replace, signal);
  return changed;
}

/** Removes the receivers that know the end of the task. */
async function dropSettled(
  { records }: Pick<PushPorts, "records">,
  task: TaskKey,
  due: string,
  signal: AbortSignal,
): Promise<void> {
  const drop = (before: TaskPushes | undefined): TaskPushes | undefined => {
    const receivers = before?.receivers.filter(({ settled }) => settled !== due) ?? [];
    if (before === undefined || receivers.length === before.receivers.length) return undefined;
    return create(TaskPushesSchema, { ...before, receivers });
  };
  await changePushes(records, task, drop, signal);
}
