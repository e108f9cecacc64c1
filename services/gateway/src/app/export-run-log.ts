import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import { Role } from "@reeve/contracts/access/role";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type {
  ExportRunLogResponseSchema,
  RunCreated,
  RunEvent,
  StoredRunBatchSchema,
} from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { Failure } from "@reeve/platform/failure";
import type { Credential } from "@reeve/platform/rpc/principal";
import { showsMemories } from "@reeve/run/thread/history/without-memories";
import type { GatewayPorts } from "./gateway-ports.ts";
import { assertOwnMemories } from "./memories-of-others.ts";
import { runKeyOf, runNotFound } from "./read-run.ts";

/** How much is sent in one message. With the largest batch added, it is below the default limit of gRPC clients, 4 MiB. */
const maxBytes = 1024 * 1024;
const logSubject = channelOf(RunBatchSchema);

/**
 * Yields the stored batches of a run, and first what the index said of it before the log was read: the log then contains at
 * least what the index shows. Throws a Failure of kind `not_found` if the run does not exist, and `denied` if it has the memories of
 * another user, or may have them: what is exported is what was stored, so nothing could be left out.
 */
export async function* exportRunLog(
  { logBatches, runs }: Pick<GatewayPorts, "logBatches" | "runs">,
  reader: Pick<Credential, "tenant" | "subject" | "roles">,
  run: string,
  signal: AbortSignal,
): AsyncIterable<MessageInitShape<typeof ExportRunLogResponseSchema>> {
  const { tenant } = reader;
  const key = runKeyOf(tenant, run);
  const check = new MemoryCheck(run, reader);
  const subject = logSubject.subject({ tenant, run });
  const row = await runs.get(`${tenant}.${run}`, signal);
  let indexedRun = row && { indexedRun: row.record };
  let batches: MessageInitShape<typeof StoredRunBatchSchema>[] = [];
  let bytes = 0;
  let isEmpty = true;
  for await (const { first, last, data, revision, ...batch } of logBatches.readBatches(
    key,
    signal,
  )) {
    check.assertMayExport(data);
    isEmpty = false;
    const { digest, kinds } = batch;
    batches.push({
      revision: BigInt(revision),
      firstSequence: first,
      lastSequence: last,
      kinds: [...kinds],
      digest,
      payload: data,
    });
    bytes += data.length;
    if (bytes < maxBytes) continue;
    yield { subject, batches, ...indexedRun };
    [batches, bytes, indexedRun] = [[], 0, undefined];
  }
  // A run that the index shows and whose log is gone is a finding, not an unknown run.
  if (isEmpty && row === undefined) throw runNotFound(run);
  if (isEmpty || batches.length > 0) yield { subject, batches, ...indexedRun };
}

/** Finds memories of another user in the batches that are exported. It reads nothing else, so no failed read permits an export. */
class MemoryCheck {
  readonly #runId: string;
  readonly #reader: Pick<Credential, "subject" | "roles">;
  #created: RunCreated | undefined;
  /** Whether the reader may have all further batches. */
  #mayExport = false;

  constructor(runId: string, reader: Pick<Credential, "subject" | "roles">) {
    this.#runId = runId;
    this.#reader = reader;
  }

  /** Throws a Failure if the reader must not have the next batch of the log. */
  assertMayExport(batch: Uint8Array): void {
    if (this.#mayExport) return;
    const events = eventsIn(batch);
    this.#created ??= startOf(events ?? []);
    if (events === undefined || this.#created === undefined) {
      // Damage is one of the findings that an export is for, but it may hide whose memories the log has.
      this.#permitOperator(
        "cannot be read up to the history of its thread, and may have memories of a user",
      );
      return;
    }
    const { subject } = this.#reader;
    assertOwnMemories({ runId: this.#runId, created: this.#created }, subject, "export its log");
    // All others are in the history with which a version that kept them there prepared the run. It does not say whose they are: the
    // earlier runs of the thread may have had other users.
    const history = historyIn(events);
    if (history?.some(showsMemories) === true) {
      this.#permitOperator("has memories in the history of its thread, perhaps of other users");
    }
    this.#mayExport ||= history !== undefined;
  }

  #permitOperator(why: string): void {
    if (!this.#reader.roles.has(Role.OPERATOR)) {
      const message = `run ${this.#runId} ${why}; only an operator may export its log`;
      throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message, {
        metadata: { run_id: this.#runId },
      });
    }
    this.#mayExport = true;
  }
}

/** Returns the events of a stored batch. Undefined: it is damaged. */
function eventsIn(batch: Uint8Array): readonly RunEvent[] | undefined {
  try {
    return fromBinary(RunBatchSchema, batch, storedReadOptions).events;
  } catch {
    return undefined;
  }
}

function startOf([first]: readonly RunEvent[]): RunCreated | undefined {
  return first?.event.case === "runCreated" ? first.event.value : undefined;
}

function historyIn(events: readonly RunEvent[]): readonly HistoryMessage[] | undefined {
  for (const { event } of events) if (event.case === "runPrepared") return event.value.history;
  return undefined;
}
