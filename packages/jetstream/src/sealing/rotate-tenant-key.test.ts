import { create } from "@bufbuild/protobuf";
import type { TenantDataKey } from "@reeve/contracts/sealing";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import { ErrorReason } from "@reeve/contracts/error";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { MemoryTable } from "../table/memory.ts";
import { checkMs, DataKeys, periodMs } from "./data-keys.ts";
import { deleteTenantKey } from "./delete-tenant-key.ts";
import { MemoryKeyStore } from "./memory-key-store.ts";
import { rotateTenantKey } from "./rotate-tenant-key.ts";

const never = new AbortController().signal;
const settled = () => Promise.resolve();

function world() {
  const rows = new MemoryTable<TenantDataKey>();
  const keyStore = new MemoryKeyStore();
  const clock = { ms: 100 * periodMs, now: () => clock.ms };
  const log = createLogger("test", "silent");
  const process = () => new DataKeys({ rows, keyStore, clock, mayCreate: true, log });
  const rotate = (settle = settled, store = keyStore) =>
    rotateTenantKey({ rows, keyStore: store, settle }, "acme", never);
  const versions = async () => (await rows.list("acme", never)).map(({ record }) => record.version);
  return { rows, keyStore, clock, process, rotate, versions };
}

test("a rotated key encrypts all data keys, which stay the same", async () => {
  const { clock, process, rotate, versions } = world();
  const keys = process();
  const first = await keys.current("acme", never);
  clock.ms += periodMs;
  const second = await keys.current("acme", never);
  expect(await rotate()).toBe(2);
  expect(await versions()).toEqual(["2", "2"]);
  clock.ms += checkMs;
  for (const each of [keys, process()]) {
    expect(await each.byId("acme", first.id, never)).toEqual(first);
    expect(await each.current("acme", never)).toEqual(second);
  }
});

test("a data key that is stored with the version before, while the key is rotated, stays readable", async () => {
  const { rows, keyStore, rotate, versions } = world();
  const dataKey = Buffer.alloc(32, 7);
  const { version, bytes } = await keyStore.wrap("acme", dataKey, never);
  let isStored = false;
  const settle = async () => {
    if (isStored) return;
    isStored = true;
    const record = create(TenantDataKeySchema, { version, wrappedKey: bytes });
    await rows.create("acme.p1", record, never);
  };
  expect(await rotate(settle)).toBe(1);
  expect(await versions()).toEqual(["2"]);
  const [row] = await rows.list("acme", never);
  const wrapped = { version: "2", bytes: row?.record.wrappedKey ?? new Uint8Array() };
  expect(Buffer.from(await keyStore.unwrap("acme", wrapped, never))).toEqual(dataKey);
  await expect(keyStore.unwrap("acme", { version, bytes }, never)).rejects.toMatchObject({
    kind: "data_loss",
  });
});

test("a rotation deletes no version while data keys with the version before are still created", async () => {
  const { rows, keyStore, rotate } = world();
  const wrapped = await keyStore.wrap("acme", Buffer.alloc(32, 7), never);
  let stored = 0;
  const settle = async () => {
    const record = create(TenantDataKeySchema, { version: "1", wrappedKey: wrapped.bytes });
    await rows.create(`acme.p${++stored}`, record, never);
  };
  await expect(rotate(settle)).rejects.toMatchObject({ kind: "conflict" });
  await keyStore.unwrap("acme", wrapped, never);
});

test("a rotation excludes another one and a deletion, and changes nothing with the keys of another deployment", async () => {
  const { rows, keyStore, process, rotate, versions } = world();
  const conflict = { kind: "conflict" };
  await process().current("acme", never);
  const during: unknown[] = [];
  await rotate(async () => {
    during.push(await rotate().catch((error: unknown) => error));
    during.push(
      await deleteTenantKey(rows, keyStore, "acme", never).catch((error: unknown) => error),
    );
  });
  expect(during.length).toBeGreaterThan(0);
  for (const error of during) expect(error).toMatchObject(conflict);
  expect(await versions()).toEqual(["2"]);
  const other = new MemoryKeyStore();
  await expect(rotate(settled, other)).rejects.toMatchObject({ kind: "unavailable" });
  expect(await versions()).toEqual(["2"]);
  await deleteTenantKey(rows, keyStore, "acme", never);
  const deleted = { reason: ErrorReason.TENANT_KEY_DELETED };
  await expect(rotate()).rejects.toMatchObject(deleted);
});
