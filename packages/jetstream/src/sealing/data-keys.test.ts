import type { TenantDataKey } from "@reeve/contracts/sealing";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { MemoryTable } from "../table/memory.ts";
import { checkMs, DataKeys, maxUncheckedMs, periodMs, retryMs } from "./data-keys.ts";
import type { KeyStore } from "./key-store.ts";
import { MemoryKeyStore } from "./memory-key-store.ts";
import { isKeysUnavailable } from "./key-failures.ts";
import { deleteTenantKey } from "./delete-tenant-key.ts";

const never = new AbortController().signal;
const deleted = { kind: "precondition", reason: ErrorReason.TENANT_KEY_DELETED };

/** Processes that share the keys of tenants, and how often they ask for them. */
function world() {
  const rows = new MemoryTable<TenantDataKey>();
  const keyStore = new MemoryKeyStore();
  const state = { isDown: false, asked: 0, downFor: "", afterWrap: () => Promise.resolve() };
  const counted: KeyStore = {
    async wrap(...given) {
      const wrapped = await keyStore.wrap(...given);
      await state.afterWrap();
      return wrapped;
    },
    async unwrap(...given) {
      state.asked++;
      if (state.isDown || state.downFor === given[0])
        throw new Failure("unavailable", ErrorReason.UNAVAILABLE, "away");
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
  clock.ms += retryMs;
  await keys.current("acme", never);
  expect(logged).toEqual(["error", "info"]);
});

test("a failed check is not repeated for some seconds, with a usable key and without one", async () => {
  const { clock, state, process } = world();
  const [keys, fresh] = [process(), process()];
  await keys.current("acme", never);
  state.isDown = true;
  clock.ms += checkMs;
  const { asked } = state;
  for (let turn = 0; turn < 10; turn++) {
    await keys.current("acme", never);
    await expect(fresh.current("acme", never)).rejects.toMatchObject({ kind: "unavailable" });
  }
  expect(state.asked).toBe(asked + 2);
  clock.ms += retryMs;
  await keys.current("acme", never);
  expect(state.asked).toBe(asked + 3);
});

test("a tenant whose keys fail while those of another work is logged once", async () => {
  const { clock, state, logged, process } = world();
  const keys = process();
  for (const tenant of ["acme", "globex"]) await keys.current(tenant, never);
  state.downFor = "acme";
  for (let turn = 0; turn < 10; turn++) {
    clock.ms += checkMs;
    for (const tenant of ["acme", "globex"]) await keys.current(tenant, never);
  }
  expect(logged).toEqual(["error"]);
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

test("a deletion that is stored is known, whatever the store of keys answers", async () => {
  const { clock, rows, keyStore, process } = world();
  const keys = process();
  const { id } = await keys.current("acme", never);
  const failing = { ...withoutDelete(keyStore), delete: () => Promise.reject(new Error("away")) };
  await expect(deleteTenantKey(rows, failing, "acme", never)).rejects.toThrow("away");
  clock.ms += checkMs;
  for (const each of [keys, process(), process(false)]) {
    await expect(each.byId("acme", id, never)).rejects.toMatchObject(deleted);
    await expect(each.current("acme", never)).rejects.toMatchObject(deleted);
  }
  await deleteTenantKey(rows, keyStore, "acme", never);
  await expect(keyStore.wrap("acme", Buffer.alloc(32), never)).rejects.toMatchObject(deleted);
  await process().current("globex", never);
});

test("a store of keys that does not decrypt what a tenant has creates no new key for it", async () => {
  const { clock, rows, process } = world();
  const first = await process().current("acme", never);
  const log = createLogger("test", "silent");
  const keyStore = new MemoryKeyStore();
  const other = new DataKeys({ rows, keyStore, clock, mayCreate: true, log });
  clock.ms += periodMs;
  await expect(other.current("acme", never)).rejects.toMatchObject({
    kind: "unavailable",
    cause: { message: expect.stringContaining("does not decrypt the data keys") },
  });
  expect(await rows.list("acme", never)).toHaveLength(1);
  expect((await process().current("acme", never)).id).not.toBe(first.id);
});

test("a data key whose row was lost is stored again as it was", async () => {
  const { clock, rows, process } = world();
  const keys = process();
  const key = await keys.current("acme", never);
  await rows.delete(`acme.${key.id}`, never);
  clock.ms += checkMs;
  expect(await keys.current("acme", never)).toEqual(key);
  expect(await process().byId("acme", key.id, never)).toEqual(key);
});

test("a data key is not replaced by another one with its id", async () => {
  const { clock, rows, process } = world();
  const keys = process();
  const key = await keys.current("acme", never);
  await rows.delete(`acme.${key.id}`, never);
  const other = await process().current("acme", never);
  expect(other.bytes).not.toEqual(key.bytes);
  clock.ms += checkMs;
  await expect(keys.current("acme", never)).rejects.toMatchObject({ kind: "data_loss" });
});

test("a tenant's key that does not decrypt its data keys is not asked for each payload", async () => {
  const { rows, clock, state, keyStore, process } = world();
  const { id } = await process().current("acme", never);
  const row = await rows.get(`acme.${id}`, never);
  if (row === undefined) throw new Error("the data key is not stored");
  await keyStore.rotate("acme", never);
  await keyStore.retire("acme", "2", never);
  const keys = process();
  const { asked } = state;
  for (let turn = 0; turn < 10; turn++) {
    const failure = await keys.byId("acme", id, never).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "data_loss" });
    expect(isKeysUnavailable(failure)).toBe(true);
  }
  expect(state.asked).toBe(asked + 1);
  clock.ms += retryMs;
  await expect(keys.byId("acme", id, never)).rejects.toMatchObject({ kind: "data_loss" });
  expect(state.asked).toBe(asked + 2);
});

test("a data key that was encrypted before a rotation, and is stored after it, gets the new version", async () => {
  const { rows, keyStore, state, process } = world();
  state.afterWrap = async () => {
    state.afterWrap = () => Promise.resolve();
    await keyStore.rotate("acme", never);
  };
  const key = await process().current("acme", never);
  await keyStore.retire("acme", "2", never);
  expect((await rows.list("acme", never)).map(({ record }) => record.version)).toEqual(["2"]);
  expect(await process().current("acme", never)).toEqual(key);
});

function withoutDelete(keyStore: MemoryKeyStore) {
  return {
    lock: keyStore.lock.bind(keyStore),
    rotate: keyStore.rotate.bind(keyStore),
    retire: keyStore.retire.bind(keyStore),
  };
}
