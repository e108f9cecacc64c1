import type { JetStreamAccountStats } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import { connectedTo, introducing } from "../../../test/support/servers/introducing-server.ts";
import { assertKeepsFullAccount, keepsFullAccounts } from "./full-account-support.ts";
import { maxStorageOf } from "./max-storage.ts";

const limits = (max_storage: number) => ({ max_storage }) as JetStreamAccountStats["limits"];
const tiers = (bytes: Readonly<Record<`R${number}`, number>>) =>
  Object.fromEntries(
    Object.entries(bytes).map(([name, max]) => [name, { limits: limits(max) }]),
  ) as unknown as NonNullable<JetStreamAccountStats["tiers"]>;

test.each(["2.10.19", "2.10.27", "2.11.0", "2.12.15", "2.14.0-RC.1", "3.0.0"])(
  "version %s keeps the streams of a full account",
  (version) => expect(keepsFullAccounts(version)).toBe(true),
);

test.each(["1.4.1", "2.8.4", "2.9.10", "2.9.25", "2.10.7", "2.10.18", ""])(
  "version %s does not keep the streams of a full account",
  (version) => expect(keepsFullAccounts(version)).toBe(false),
);

test("an account without a limit is accepted on every version", async () => {
  const asserted = assertKeepsFullAccount(connectedTo("2.9.10"), { limits: limits(-1) });
  await expect(asserted).resolves.toBeUndefined();
});

test.each([
  { name: "in total", account: { limits: limits(1_000) } },
  { name: "of a tier", account: { limits: limits(0), tiers: tiers({ R1: 1_000, R3: -1 }) } },
])("a limit $name is refused on an old version only", async ({ account }) => {
  await assertKeepsFullAccount(connectedTo("2.12.15"), account);
  await expect(assertKeepsFullAccount(connectedTo("2.9.10"), account)).rejects.toThrow(
    /may store 1000 bytes, and the server at 10\.0\.0\.1:4222 has version 2\.9\.10/,
  );
});

test("a limit is refused for each server to which a client may move", async () => {
  await using old = await introducing("2.10.7");
  const account = { limits: limits(1_000) };
  await expect(
    assertKeepsFullAccount(connectedTo("2.12.15", old.address), account),
  ).rejects.toThrow(`${old.address} has version 2.10.7`);
});

test("the limit of an account is that of the tier with these replicas", () => {
  const account = { limits: limits(0), tiers: tiers({ R1: 1_000, R3: 3_000 }) };
  expect(maxStorageOf(account, 3)).toBe(3_000);
  expect(maxStorageOf({ limits: limits(2_000) }, 3)).toBe(2_000);
  expect(maxStorageOf({ limits: limits(-1) }, 3)).toBeUndefined();
});
