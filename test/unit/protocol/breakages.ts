import { clone, create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunClaimedSchema, RunEventSchema } from "@reeve/contracts/run";
import type { Log, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunPorts } from "@reeve/engine/ports/run-ports";
import type { CancelPorts } from "@reeve/run/commands/cancel-run";
import type { Breakage } from "./play.ts";

/** Appends without comparing the tail: retries against whatever the log holds now. */
function appendIgnoringTail<Key, Event>(log: Log<Key, Event>): Log<Key, Event>["append"] {
  return async (key, tail, events, signal) => {
    const { tail: now } = await log.read(key, emptyTail, signal);
    return await log.append(key, { ...now, sequence: tail.sequence }, events, signal);
  };
}

/** Renumbers events for a later tail than the one they were made for. */
function renumbered(events: readonly RunEvent[], { sequence }: Tail): readonly RunEvent[] {
  return events.map((event, index) => {
    const copy = clone(RunEventSchema, event);
    copy.sequence = sequence + 1 + index;
    return copy;
  });
}

function isPark(events: readonly RunEvent[]): boolean {
  return events[0]?.event.case === "runParked";
}

function withLog(ports: RunPorts, append: RunPorts["log"]["append"]): RunPorts {
  const { read, follow } = ports.log;
  return { ...ports, log: { read, follow, append } };
}

/** An append is not compared with the tail that its writer has read. */
export const appendsIgnoringTail: Breakage = { append: appendIgnoringTail };

/** Toolhosts append to a journal without comparing the tail that they have read. */
export const journalsIgnoringTail: Breakage = { journalAppend: appendIgnoringTail };

/** A worker parks the run at the current end of the log, even if events were appended since it read the log. */
export const parksWithoutReading: Breakage = {
  append: (log) => async (key, tail, events, signal) => {
    if (!isPark(events)) return await log.append(key, tail, events, signal);
    const { tail: now } = await log.read(key, emptyTail, signal);
    return await log.append(key, now, renumbered(events, now), signal);
  },
};

/** Clients append their decisions to the current end of the log, even if others were appended since they read it. */
export const decidesWithoutReading: Breakage = {
  outside: (ports) => {
    const { log } = ports;
    const append: typeof log.append = async (key, _, events, signal) => {
      const { tail: now } = await log.read(key, emptyTail, signal);
      return await log.append(key, now, renumbered(events, now), signal);
    };
    return { ...ports, log: { read: log.read, follow: log.follow, append } };
  },
};

/** A canceller withdraws no calls, and neither does the worker that releases the run. */
export const leavesCallsOpen: Breakage = {
  outside: (ports) => ({ ...ports, journal: withoutAppends(ports.journal) }),
  worker: (ports) => ({
    ...ports,
    journal: { ...ports.journal, ...withoutAppends(ports.journal) },
  }),
};

/** A cancellation that withdraws no calls and dispatches no worker. */
export const cancelsOnlyTheRun: Breakage = {
  outside: (ports) => ({ ...ports, journal: withoutAppends(ports.journal), dispatch: nowhere }),
};

/** Toolhosts start idempotent calls without a limit: each hides the earlier starts from itself. */
export const startsWithoutLimit: Breakage = {
  toolhost: (ports) => {
    const { read, append, follow } = ports.journal;
    const forgetful: typeof read = async (...given) => {
      const known = await read(...given);
      const starts = known.events.filter(({ fact }) => fact.case === "started");
      const events = known.events.filter((event) => !starts.slice(0, -1).includes(event));
      return { ...known, events };
    };
    return { ...ports, journal: { read: forgetful, append, follow } };
  },
};

/** The worker of an ended run withdraws no calls. */
export const releasesNothing: Breakage = {
  worker: (ports) => ({
    ...ports,
    journal: { ...ports.journal, ...withoutAppends(ports.journal) },
  }),
};

/** A worker or a toolhost acknowledges a message that belongs to another one now. */
export const acknowledgesForOthers: Breakage = { acknowledgesAbandoned: true };

const nowhere = { publish: async () => 0 };

/** A journal that accepts every fact and stores none. */
function withoutAppends({ read }: CancelPorts["journal"]): CancelPorts["journal"] {
  return { read, append: async (_, tail) => ({ kind: "appended", tail }) };
}

/** A claim does not name the message that caused it. */
export const claimsNameNoMessage: Breakage = {
  worker: (ports) =>
    withLog(ports, (key, tail, events, signal) => {
      const nameless = events.map((event) => {
        if (event.event.case !== "runClaimed") return event;
        const value = create(RunClaimedSchema, { ...event.event.value, dispatchSequence: 0n });
        return create(RunEventSchema, { ...event, event: { case: "runClaimed", value } });
      });
      return ports.log.append(key, tail, nameless, signal);
    }),
};

/** A claim does not name the delivery of its message. */
export const claimsNameNoDelivery: Breakage = {
  worker: (ports) =>
    withLog(ports, (key, tail, events, signal) => {
      for (const { event } of events) if (event.case === "runClaimed") event.value.attempt = 0;
      return ports.log.append(key, tail, events, signal);
    }),
};

/** The dispatch queue does not deduplicate. */
export const keepsDuplicateDispatches: Breakage = { dedupes: false };

/** No gateway sweeps runs. */
export const unswept: Breakage = { isUnswept: true };

/** No gateway sweeps runs, and stale reads are the only faults. */
export const unsweptWithStaleReads: Breakage = { ...unswept, faults: /as of \d appends ago$/ };

/** No gateway sweeps runs, and workers that are asked to end are the only faults. */
export const unsweptWithEndingWorkers: Breakage = {
  ...unswept,
  faults: /^worker .* is asked to end$/,
};

/** A worker that follows a call does not watch its request. */
export const callsUnwatched: Breakage = {
  worker: (ports) => {
    const { now } = ports.clock;
    return { ...ports, clock: { now, sleep: sleepUnlessLong } };
  },
};

/** A toolhost acknowledges a call that it has not forwarded, and no worker watches the request. */
export const losesForwardedCalls: Breakage = {
  ...callsUnwatched,
  toolhost: ({ routing, ...ports }) => {
    if (routing === undefined) return ports;
    const nowhere = { publish: async () => 1, holds: async () => true };
    return { ...ports, routing: { ...routing, calls: { ...routing.calls, to: () => nowhere } } };
  },
};

/** A toolhost asks no other one whether it executes a call. */
export const asksNoHost: Breakage = {
  toolhost: (ports) => ({ ...ports, executions: { stateOf: async () => "lost" } }),
};

/** A worker takes a run over although the queue still has the owner's message. */
export const ignoresOwnerMessages: Breakage = {
  worker: (ports) => {
    const publish = ports.dispatch.publish.bind(ports.dispatch);
    return { ...ports, dispatch: { publish, holds: async () => false } };
  },
};

/** Sleeps, but never wakes from a long sleep: checks that follow a long wait never happen. */
async function sleepUnlessLong(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs < 10_000) return;
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  await promise;
}

/** An external writer does not wake a parked run. */
export const leavesParkedRunsAsleep: Breakage = { ...unswept, isSilent: true };
