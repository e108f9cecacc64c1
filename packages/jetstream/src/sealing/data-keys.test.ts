import type { TenantDataKey } from "@reeve/contracts/sealing";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { MemoryTable } from "../table/memory.ts";
import { checkMs, DataKeys, maxUncheckedMs, periodMs } from "./data-keys.ts";
import type { KeyStore } from "./key-store.ts";
import { MemoryKeyStore } from "./memory-key-store.ts";
import { rotateTenantKey } from "./rotate-tenant-key.ts";

const never = new AbortController().signal;
const deleted = { kind: "precondition", reason: ErrorReason.TENANT_KEY_DELETED };

/** Processes that share the keys of tenants, and how often they ask for them. */
function world() {
  const rows = new MemoryTable<TenantDataKey>();
  const keyStore = new MemoryKeyStore();
  const state = { isDown: false, asked: 0 };
  const counted: KeyStore = {
    wrap: (...given) => keyStore.wrap(...given),
    async unwrap(...given) {
      state.asked++;
      if (state.isDown) throw new Failure("unavailable", ErrorReason.UNAVAILABLE, "away");
      return await keyStore.unwrap(...given);
    },
  };
  const logged: string[] = [];
  const log = createLogger("test", "silent");
  log.error = () => void logged.push("error");
  log.info = () => void logged.push("info");
  const clock = { ms: 100 * periodMs, now: () => clock.ms };
  const process = (mayCreate = true) =>
    new DataKeys({ rows, keyStore: counted, clock, mayCreate, log });
  return { rows, keyStore, state, clock, logged, process };
}

test("processes that need a key at the same time use the same one", async () => {
  const { rows, process } = world();
  const all = Array.from({ length: 20 }, () => process().current("acme", never));
  const keys = new Set(
    (await Promise.all(all)).map(({ bytes }) => Buffer.from(bytes).toString("hex")),
  );
  expect(keys.size).toBe(1);
  expect(await rows.list("", never)).toHaveLength(1);
  const other = await process().current("globex", never);
  expect(keys.has(Buffer.from(other.bytes).toString("hex"))).toBe(false);
});

test("a tenant gets another key in each period, and the earlier ones stay readable", async () => {
  const { clock, process } = world();
  const keys = process();
  const first = await keys.current("acme", never);
  clock.ms += periodMs;
  const second = await keys.current("acme", never);
  expect(second.id).not.toBe(first.id);
  expect(await process().byId("acme", first.id, never)).toEqual(first);
});

test("a process that may not create keys uses those of others, also at the start of a period", async () => {
  const { clock, process } = world();
  const toolhost = process(false);
  await expect(toolhost.current("acme", never)).rejects.toMatchObject({ kind: "unavailable" });
  const key = await process().current("acme", never);
  expect(await toolhost.current("acme", never)).toEqual(key);
  for (const periods of [1, 20]) {
    clock.ms += periods * periodMs;
    expect(await toolhost.current("acme", never)).toEqual(key);
  }
});

test("the store is asked once in a while, and a key stays usable for some time while it is away", async () => {
  const { clock, state, logged, process } = world();
  const keys = process();
  for (let turn = 0; turn < 100; turn++) await keys.current("acme", never);
  expect(state.asked).toBe(1);
  state.isDown = true;
  clock.ms += checkMs;
  await keys.current("acme", never);
  expect(state.asked).toBe(2);
  clock.ms += maxUncheckedMs;
  await expect(keys.current("acme", never)).rejects.toMatchObject({ kind: "unavailable" });
  expect(logged).toEqual(["error"]);
  state.isDown = false;
  await keys.current("acme", never);
  expect(logged).toEqual(["error", "info"]);
});

test("a deleted key is not used any more once it was asked for, and the store is not asked each time", async () => {
  const { clock, keyStore, state, process } = world();
  const keys = process();
  const { id } = await keys.current("acme", never);
  await keyStore.delete("acme", never);
  await keys.current("acme", never);
  clock.ms += checkMs;
  await expect(keys.byId("acme", id, never)).rejects.toMatchObject(deleted);
  const { asked } = state;
  for (let turn = 0; turn < 100; turn++) {
    await expect(keys.current("acme", never)).rejects.toMatchObject(deleted);
  }
  expect(state.asked).toBe(asked);
});

test("a rotated key encrypts all data keys, which stay the same", async () => {
  const { clock, rows, keyStore, process } = world();
  const keys = process();
  const first = await keys.current("acme", never);
  clock.ms += periodMs;
  const second = await keys.current("acme", never);
  expect(await rotateTenantKey(rows, keyStore, "acme", never)).toBe(2);
  const versions = (await rows.list("acme", never)).map(({ record }) => record.version);
  expect(versions).toEqual(["2", "2"]);
  clock.ms += checkMs;
  for (const each of [keys, process()]) {
    expect(await each.byId("acme", first.id, never)).toEqual(first);
    expect(await each.current("acme", never)).toEqual(second);
  }
});
