import { randomBytes } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import type { KeyAdmin, KeyStore } from "../../../src/sealing/key-store.ts";

const never = new AbortController().signal;
const dataKey = randomBytes(32);
let tenants = 0;

interface KeyStoreTraits {
  /** Creates the key of a tenant where an operator has to. */
  create?(tenant: string): void;
  /** Whether the store tells a deleted key from one that is missing for now. */
  readonly knowsDeleted: boolean;
}

/** The contract of every store of the keys of tenants. */
export function keyStoreContract(
  name: string,
  open: () => KeyStore & KeyAdmin,
  { create, knowsDeleted }: KeyStoreTraits,
): void {
  const freshTenant = () => {
    const tenant = `tenant-${++tenants}`;
    create?.(tenant);
    return tenant;
  };

  describe(`${name}: the keys of tenants`, () => {
    test("decrypt what they have encrypted, also in another process", async () => {
      const tenant = freshTenant();
      const wrapped = await open().wrap(tenant, dataKey, never);
      expect(Buffer.from(wrapped.bytes).includes(dataKey)).toBe(false);
      expect(Buffer.from(await open().unwrap(tenant, wrapped, never))).toEqual(dataKey);
    });

    test("encrypt the same data key differently each time", async () => {
      const tenant = freshTenant();
      const [one, two] = [
        await open().wrap(tenant, dataKey, never),
        await open().wrap(tenant, dataKey, never),
      ];
      expect(one.bytes).not.toEqual(two.bytes);
    });

    test("do not decrypt what belongs to another tenant, or was altered", async () => {
      const [tenant, other] = [freshTenant(), freshTenant()];
      const wrapped = await open().wrap(tenant, dataKey, never);
      await open().wrap(other, dataKey, never);
      await expect(open().unwrap(other, wrapped, never)).rejects.toMatchObject({
        kind: "data_loss",
      });
    });

    test("still decrypt after a rotation, and with the new version alone after the others are retired", async () => {
      const tenant = freshTenant();
      const old = await open().wrap(tenant, dataKey, never);
      await open().rotate(tenant, never);
      expect(Buffer.from(await open().unwrap(tenant, old, never))).toEqual(dataKey);
      const renewed = await open().wrap(tenant, dataKey, never);
      expect(renewed.version).not.toBe(old.version);
      await open().retire(tenant, old.version, never);
      expect(Buffer.from(await open().unwrap(tenant, old, never))).toEqual(dataKey);
      await open().retire(tenant, renewed.version, never);
      expect(Buffer.from(await open().unwrap(tenant, renewed, never))).toEqual(dataKey);
      await expect(open().unwrap(tenant, old, never)).rejects.toBeInstanceOf(Failure);
      await open().rotate(tenant, never);
      expect((await open().wrap(tenant, dataKey, never)).version).not.toBe(renewed.version);
    });

    test("are gone for good once they are deleted, and those of others stay", async () => {
      const [tenant, other] = [freshTenant(), freshTenant()];
      const deleted = knowsDeleted
        ? { kind: "precondition", reason: ErrorReason.TENANT_KEY_DELETED }
        : { kind: "unavailable" };
      const wrapped = await open().wrap(tenant, dataKey, never);
      const kept = await open().wrap(other, dataKey, never);
      await open().delete(tenant, never);
      await open().delete(tenant, never);
      await expect(open().unwrap(tenant, wrapped, never)).rejects.toMatchObject(deleted);
      await expect(open().wrap(tenant, dataKey, never)).rejects.toMatchObject(deleted);
      expect(Buffer.from(await open().unwrap(other, kept, never))).toEqual(dataKey);
    });

    test.each(["../up", ".hidden", "a/b", "", "a\0b"])("refuse the tenant %j", async (tenant) => {
      await expect(open().wrap(tenant, dataKey, never)).rejects.toMatchObject({ kind: "invalid" });
    });
  });
}
