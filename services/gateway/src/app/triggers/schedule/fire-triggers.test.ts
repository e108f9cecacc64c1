import { setImmediate } from "node:timers/promises";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { TriggerRecord } from "@reeve/contracts/trigger";
import { expect, test } from "vitest";
import type { MemoryTriggers } from "../../../../test/support/memory-triggers.ts";
import {
  hourMs,
  memoryTriggers,
  nightly,
  startMs,
  storeTrigger,
} from "../../../../test/support/memory-triggers.ts";
import { fireTriggers } from "./fire-triggers.ts";

const discardLogs = { warn: () => undefined };
const never = new AbortController().signal;

/** Returns ports with due triggers, of which the view knows. */
async function withDue(names: readonly (readonly [tenant: string, trigger: string])[]) {
  const ports = await memoryTriggers();
  await storeTrigger(ports);
  const stored = await ports.records.get("acme.nightly", never);
  const view: TriggerRecord[] = [];
  for (const [tenant, triggerId] of names) {
    const { trigger } = stored?.record ?? {};
    if (stored === undefined || trigger?.spec === undefined) throw new Error("nothing is stored");
    const spec = { ...trigger.spec, triggerId };
    const record = { ...stored.record, tenant, uid: triggerId, trigger: { ...trigger, spec } };
    await ports.records.put(`${tenant}.${triggerId}`, record, never);
    view.push(record);
  }
  ports.view = view;
  ports.nowMs = startMs + hourMs;
  return ports;
}

/** Whether a trigger is one of those that take long. */
function isSlow(key: string): boolean {
  return key.startsWith("acme.slow");
}

/** Fires until `isEnough` of the keys whose history was asked for. Those that are slow get no answer before. */
async function firedKeys(ports: MemoryTriggers, isEnough: (keys: readonly string[]) => boolean) {
  const asked: string[] = [];
  const enough = Promise.withResolvers<void>();
  const get = ports.firings.get.bind(ports.firings);
  ports.firings.get = async (key, signal) => {
    if (!asked.includes(key)) asked.push(key);
    if (isEnough(asked)) enough.resolve();
    if (isSlow(key)) await enough.promise;
    return await get(key, signal);
  };
  const end = new AbortController();
  const clock = {
    now: () => ports.nowMs,
    sleep: async (_: number, signal: AbortSignal) => await setImmediate(undefined, { signal }),
  };
  const firing = fireTriggers(ports, clock, discardLogs, end.signal);
  await Promise.race([enough.promise, firing]);
  end.abort();
  await firing.catch(() => undefined);
  return asked;
}

test("triggers that take long do not delay others, of any tenant", async () => {
  const slow = Array.from({ length: 30 }, (_, index) => ["acme", `slow${index}`] as const);
  const ports = await withDue([...slow, ["globex", "fast"]]);
  const asked = await firedKeys(ports, (keys) => keys.includes("globex.fast"));
  expect(asked.filter(isSlow)).toHaveLength(4);
});

test("a trigger that takes long does not delay the rounds of its own tenant", async () => {
  const ports = await withDue([
    ["acme", "slow"],
    ["acme", "fast"],
  ]);
  const later = ports.view.slice(1);
  const { known } = ports;
  let rounds = 0;
  const view = () => ((rounds += 1) < 3 ? known().slice(0, 1) : later);
  const inTwoRounds = { ...ports, known: Object.assign(view, { get: known.get }) };
  expect(await firedKeys(inTwoRounds, (keys) => keys.length === 2)).toEqual([
    "acme.slow",
    "acme.fast",
  ]);
});

test("a time that a jitter still delays is read without its schedule", async () => {
  const ports = await withDue([["acme", nightly.trigger]]);
  const [record] = ports.view;
  if (record?.trigger?.spec?.source.case !== "schedule") throw new Error("there is no schedule");
  const schedule = record.trigger.spec.source.value;
  schedule.cron = "is not parsed";
  schedule.jitter = durationFromMs(hourMs);
  const end = new AbortController();
  let rounds = 0;
  const clock = {
    now: () => ports.nowMs,
    sleep: async () => {
      if ((rounds += 1) === 3) end.abort();
      end.signal.throwIfAborted();
      await Promise.resolve();
    },
  };
  await expect(fireTriggers(ports, clock, discardLogs, end.signal)).rejects.toThrow("aborted");
  expect(ports.gateway.dispatch.length).toBe(0);
});
