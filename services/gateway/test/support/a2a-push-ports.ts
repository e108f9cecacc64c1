import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { TaskPushes } from "@reeve/contracts/a2a";
import { Role } from "@reeve/contracts/access/role";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus, RunWaitKind } from "@reeve/contracts/run";
import type { RecordAct, SystemAct } from "@reeve/jetstream/audit/system-acts";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { onTestFinished } from "vitest";
import { openPushTarget } from "../../src/a2a/push/push-target.ts";

const never = new AbortController().signal;

/** The caller of the task. */
export const caller = { subject: "ada", roles: [Role.RUNNER] };

/** The task that the receivers of a test are notified of. */
export const task = { tenant: "acme", runId: "run_aaaaaaaaaaaa", agentId: "helper", caller };

/** The key of the run of the task. */
export const runKey = bucketOf(RunSchema).key({ tenant: "acme", run: task.runId });

/** A log that drops its lines. */
export const quiet = { warn: () => undefined };

/** Opens the ports of push notifications in memory, with a manual clock, for one test. Sends only to URLs with `prefix`. */
export function portsFor(prefix: string, allowedAddresses = ["127.0.0.1"]) {
  const records = new MemoryTable<TaskPushes>();
  const runs = new MemoryTable<Run>();
  const target = openPushTarget({ prefixes: [prefix], allowedAddresses });
  onTestFinished(() => target[Symbol.asyncDispose]());
  const time = { nowMs: 1_000_000 };
  const clock = { now: () => time.nowMs, sleep: () => Promise.reject(new Error("no sleep")) };
  const known = Object.assign(() => [] as TaskPushes[], { get: () => undefined });
  const acts: SystemAct[] = [];
  const recordAct: RecordAct = async (act, perform) => {
    const isDone = await perform();
    if (isDone) acts.push(act);
    return isDone;
  };
  const ports = { records, runs, target, clock, known, recordAct };
  const isAt = async (run: MessageInitShape<typeof RunSchema>) =>
    await runs.put(
      runKey,
      create(RunSchema, { ...run, runId: task.runId, threadId: "talk" }),
      never,
    );
  return { ports, time, isAt, acts };
}

/** Returns a configuration of the task with a token and credentials. */
export const config = (url: string): TaskPushNotificationConfig => ({
  tenant: "",
  id: "",
  taskId: task.runId,
  url,
  token: "known",
  authentication: { scheme: "Bearer", credentials: "secret" },
});

/** Returns a state of the run in which it waits for a decision. */
export const asks = (id: string) => ({
  status: RunStatus.WAITING,
  waitingFor: [{ kind: RunWaitKind.DECISION, id }],
});
