import type { Client } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunEvent, RunService } from "@reeve/contracts/run";
import { EventFamily, EventFamilySchema, RunStatus } from "@reeve/contracts/run";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { Failure } from "@reeve/platform/failure";
import type { BackOff } from "./back-off.ts";
import { delayAfter } from "./back-off.ts";

/** What `followRun` yields: an event, a word about the connection, or how the run ended whose last event was seen before. */
export type Followed =
  | { readonly kind: "ended"; readonly status: RunStatus }
  | { readonly kind: "event"; readonly event: RunEvent }
  | { readonly kind: "lost"; readonly failure: Failure; readonly after: number };

export interface FollowOptions {
  readonly runId: string;
  /** The last sequence that was seen; 0: from the beginning. */
  readonly after: number;
  /** Whether records come too. */
  readonly records: boolean;
  readonly backOff: BackOff;
}

// The numbers of the enum's descriptor are its values.
const everyFamily = EventFamilySchema.values
  .map(({ number }) => number as EventFamily)
  .filter((family) => family !== EventFamily.UNSPECIFIED);

/**
 * The events of a run, each once and in order, until the terminal status, over any number of lost connections. Throws the
 * failure when the server refuses, or when it cannot be reached for longer than `backOff` bears.
 */
export async function* followRun(
  runs: Pick<Client<typeof RunService>, "watchRun">,
  { runId, after, records, backOff }: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<Followed, void, undefined> {
  let seen = after;
  let failures = 0;
  const selection = records
    ? ({ case: "families", value: { families: everyFamily } } as const)
    : ({ case: "detailed", value: true } as const);
  for (;;) {
    try {
      const request = { runId, afterSequence: seen, selection };
      for await (const message of runs.watchRun(request, { signal })) {
        const { events, throughSequence, endStatus } = message;
        failures = 0;
        for (const event of events) {
          if (event.sequence <= seen) continue;
          seen = event.sequence;
          yield { kind: "event", event };
          if (isTerminal(event)) return;
        }
        if (endStatus !== RunStatus.UNSPECIFIED) return yield { kind: "ended", status: endStatus };
        seen = Math.max(seen, throughSequence);
      }
      // A stream that ends well before the terminal status was cut by something on the way.
      throw new ConnectError("the stream ended before the run", Code.Unavailable);
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureFrom(error);
      failures += 1;
      if (!isLostStream(error, failure) || failures >= backOff.attempts) throw failure;
      yield { kind: "lost", failure, after: seen };
      const delayMs = Math.max(delayAfter(failures, backOff), failure.retryAfterMs ?? 0);
      await backOff.sleep(delayMs, signal);
    }
  }
}

const terminal: ReadonlySet<RunStatus> = new Set([
  RunStatus.COMPLETED,
  RunStatus.ERROR,
  RunStatus.CANCELLED,
]);

/** Whether the event is the last one of its run. */
function isTerminal({ event }: RunEvent): boolean {
  return event.case === "status" && isTerminalStatus(event.value.status);
}

function isTerminalStatus(status: RunStatus): boolean {
  return terminal.has(status);
}

/** A connection that broke has many codes, but never our details; a refusal of the server always has them. */
function isLostStream(error: unknown, failure: Failure): boolean {
  if (failure.kind === "unavailable") return true;
  if (error instanceof Failure || failure.reason !== ErrorReason.INTERNAL) return false;
  const { code, details } = ConnectError.from(error);
  return details.length === 0 && [Code.Internal, Code.Aborted, Code.Unknown].includes(code);
}
