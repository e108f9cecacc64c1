import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import type { Run, RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, StoredRunBatchSchema } from "@reeve/contracts/run";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import type { StoredRunLog } from "../../src/verify/verify-run-log.ts";

const never = new AbortController().signal;
const folder = join(import.meta.dirname, "../../../../test/histories");

/** The names of the recorded histories. */
export const recordedHistories = readdirSync(folder).filter((file) => file.endsWith(".json"));

/** Returns the events of a recorded history. */
export function recordedEvents(file: string): readonly RunEvent[] {
  return eventsOf(JSON.parse(readFileSync(join(folder, file), "utf8")) as readonly JsonValue[]);
}

export function eventsOf(events: readonly JsonValue[]): readonly RunEvent[] {
  return events.map((event) => fromJson(RunEventSchema, event));
}

/** The log of a run as it is stored. */
export interface StoredLog extends StoredRunLog {
  readonly runId: string;
  readonly indexed: Run;
}

/** Stores events in batches of these lengths, repeated, as their writers would have stored them. */
export async function storedLog(
  events: readonly RunEvent[],
  lengths: readonly number[],
): Promise<StoredLog> {
  const log = memoryRunLog();
  const { runId = "", event } = events[0] ?? {};
  const tenant = event?.case === "runCreated" ? event.value.tenant : "";
  const key = { tenant, run: runId };
  for (let [index, tail] = [0, emptyTail]; tail.sequence < events.length; index++) {
    const length = lengths[index % lengths.length] ?? 1;
    const batch = events.slice(tail.sequence, tail.sequence + length);
    const outcome = await log.append(key, tail, batch, never);
    if (outcome.kind === "appended") ({ tail } = outcome);
  }
  const batches = [];
  for await (const { revision, first, last, kinds, digest, data } of log.readBatches(key, never)) {
    batches.push(
      create(StoredRunBatchSchema, {
        revision: BigInt(revision),
        firstSequence: first,
        lastSequence: last,
        kinds: [...kinds],
        digest,
        payload: data,
      }),
    );
  }
  const run = runOf(foldHead(emptyHead, events));
  return { runId, subject: `run.${tenant}.${runId}.log`, batches, indexed: run, current: run };
}
