import type { Agent } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import {
  shortDelays,
  unreadableContract,
} from "../../test/support/unreadable/unreadable-contract.ts";
import { keysUnavailable, notAuthentic } from "../sealing/key-failures.ts";
import { MemoryTable } from "./memory.ts";
import { tenantOfKey, UnreadableRows } from "./unreadable-rows.ts";

unreadableContract("memory", () => {
  const locked = new Set<string>();
  const altered = new Map<string, number>();
  const failureOf = (key: string) => {
    if (altered.has(key)) return notAuthentic(key);
    return locked.has(tenantOfKey(key)) ? keysUnavailable("locked") : undefined;
  };
  const table = new MemoryTable<Agent>({ failureOf, delays: shortDelays });
  return {
    table,
    lock: (tenant) => void locked.add(tenant),
    unlock: (tenant) => void locked.delete(tenant),
    async alter(key) {
      const signal = new AbortController().signal;
      const row = await table.get(key, signal);
      altered.set(key, row?.revision ?? 0);
      if (row !== undefined) await table.put(key, row.record, signal);
    },
  };
});

const delays = { firstDelayMs: 100, maxDelayMs: 300 };
const error = new Failure("unavailable", ErrorReason.UNAVAILABLE, "away");
const unreadable = (key: string) => ({ kind: "unreadable", key, revision: 1, error }) as const;
const deleted = (key: string) => ({ kind: "deleted", key, revision: 1 }) as const;

test("a tenant is tried at growing intervals, and without a pause while its rows can be read", () => {
  const rows = new UnreadableRows(delays);
  expect(rows.waitMs(0)).toBeUndefined();
  rows.note(unreadable("acme.a"), 0);
  rows.note(unreadable("acme.b"), 50);
  expect(rows.waitMs(0)).toBe(100);
  for (const [at, delayMs] of [
    [100, 200],
    [300, 300],
    [600, 300],
  ] as const) {
    expect(rows.waitMs(at)).toBe(0);
    rows.tried([unreadable("acme.a")], at);
    expect(rows.waitMs(at)).toBe(delayMs);
  }
  // The row that failed last is the last one to be tried again.
  expect(rows.due(1)).toMatchObject([{ key: "acme.b" }]);
  rows.tried([deleted("acme.b")], 900);
  expect(rows.waitMs(900)).toBe(0);
  rows.note(deleted("acme.a"), 900);
  expect(rows.waitMs(900)).toBeUndefined();
});

test("the tenant that is due first is tried first", () => {
  const rows = new UnreadableRows(delays);
  rows.note(unreadable("acme.a"), 0);
  rows.note(unreadable("globex.b"), 10);
  rows.tried([unreadable("acme.a")], 100);
  expect(rows.due(10)).toMatchObject([{ key: "globex.b" }]);
  expect(rows.waitMs(100)).toBe(10);
});

test("there are limits: a watch with too many such rows fails", () => {
  const rows = new UnreadableRows(delays);
  const many = () => {
    for (let at = 0; at <= 100_000; at++) rows.note(unreadable(`acme.${at}`), 0);
  };
  expect(many).toThrow(/more than 100000 rows of tenants cannot be read/);
});
