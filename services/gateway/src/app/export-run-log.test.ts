import { Role } from "@reeve/contracts/access/role";
import { ErrorReason } from "@reeve/contracts/error";
import type { RawBatch } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { expect, test } from "vitest";
import { ann, appendFacts, memoryPorts } from "../../test/support/memory-ports.ts";
import { exportRunLog } from "./export-run-log.ts";

const never = new AbortController().signal;
const runId = "run_export01";
const key = { tenant: "acme", run: runId };
const bob = { tenant: "acme", subject: "bob", roles: new Set([Role.VIEWER]) };
const operator = { ...bob, roles: new Set([Role.OPERATOR]) };
const refusal = { kind: "denied" };

/** The start of a run of ann. */
const started = (memoryEnabled: boolean): ExternalFact => ({
  case: "runCreated",
  value: { tenant: "acme", memoryEnabled, startedBy: "ann" },
});
const prepared = (content: string): ExternalFact => {
  const value = { providerCallId: "p", name: "recall", content };
  return { case: "runPrepared", value: { history: [{ message: { case: "toolResult", value } }] } };
};
const claimed: ExternalFact = { case: "runClaimed", value: { worker: "w" } };

/** Stores a run, each fact in a batch of its own. */
async function stored(...facts: readonly ExternalFact[]) {
  const ports = memoryPorts();
  for (const fact of facts) await appendFacts(ports.log, runId, fact);
  return ports;
}

type Ports = Awaited<ReturnType<typeof stored>>;
type Reader = Parameters<typeof exportRunLog>[1];

/** Returns ports whose batch with the index `damaged` cannot be decoded. */
function withDamage(ports: Ports, damaged: number): Ports {
  async function* readBatches(): AsyncIterable<RawBatch> {
    let index = 0;
    for await (const batch of ports.log.readBatches(key, never)) {
      yield index++ === damaged ? { ...batch, data: new Uint8Array([255, 255]) } : batch;
    }
  }
  const logParts = { readPart: () => Promise.reject(unreadable()) };
  return { ...ports, logParts, logBatches: { readBatches } };
}

const unreadable = () => new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store is out");

/** Returns how many batches are exported. */
async function exported(ports: Ports, reader: Reader): Promise<number> {
  let count = 0;
  for await (const { batches = [] } of exportRunLog(ports, reader, runId, never)) {
    count += batches.length;
  }
  return count;
}

test("a log with memories is exported to its user only, and one without to everybody", async () => {
  const withMemory = await stored(started(true), claimed);
  expect(await exported(withMemory, ann)).toBe(2);
  await expect(exported(withMemory, bob)).rejects.toThrow(
    /has the memories of its user, ann; nobody else may export its log/,
  );
  await expect(exported(withMemory, operator)).rejects.toMatchObject(refusal);
  expect(await exported(await stored(started(false), claimed), bob)).toBe(2);
});

test("a failed read of the start permits nothing", async () => {
  const ports = await stored(started(true), claimed);
  const logParts = { readPart: () => Promise.reject(unreadable()) };
  await expect(exported({ ...ports, logParts }, bob)).rejects.toMatchObject(refusal);
});

test("a log whose start cannot be read is exported to operators only", async () => {
  for (const ports of [
    withDamage(await stored(started(true), claimed), 0),
    await stored(claimed),
  ]) {
    await expect(exported(ports, bob)).rejects.toThrow(/only an operator may export its log/);
    expect(await exported(ports, operator)).toBeGreaterThan(0);
  }
});

test("a log whose history has memories, as earlier versions stored it, is exported to operators only", async () => {
  for (const memoryEnabled of [false, true]) {
    const facts = [started(memoryEnabled), claimed, prepared("she plays the cello"), claimed];
    const ports = await stored(...facts);
    // The thread may be that of another person.
    await expect(exported(ports, { ...ann, roles: new Set([Role.RUNNER]) })).rejects.toThrow(
      /has memories in the history of its thread, .* only an operator may export its log/,
    );
    await expect(exported(ports, bob)).rejects.toMatchObject(refusal);
  }
  const ports = await stored(started(false), claimed, prepared("she plays the cello"), claimed);
  expect(await exported(ports, operator)).toBe(4);
  const clean = prepared("[not kept in the thread: memories belong to one user]");
  expect(await exported(await stored(started(false), claimed, clean), bob)).toBe(3);
});

test("damage hides no history from the check, and after it nothing is refused", async () => {
  const facts = [started(false), prepared("hers"), claimed];
  await expect(exported(withDamage(await stored(...facts), 1), bob)).rejects.toMatchObject(refusal);
  const clean = [started(false), { case: "runPrepared", value: {} } as const, claimed];
  expect(await exported(withDamage(await stored(...clean), 2), bob)).toBe(3);
});
