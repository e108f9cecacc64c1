import { clone, create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunClaimedSchema, RunEventSchema } from "@reeve/contracts/run";
import type { Log, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunPorts } from "@reeve/engine/ports/run-ports";
import type { Breakage } from "./play.ts";

/** Writes whatever others have written meanwhile. */
function regardless<Key, Event>(log: Log<Key, Event>): Log<Key, Event>["append"] {
  return async (key, tail, events, signal) => {
    const { tail: now } = await log.read(key, emptyTail, signal);
    return await log.append(key, { ...now, sequence: tail.sequence }, events, signal);
  };
}

/** Gives events the places after a tail at which they were not meant to stand. */
function moved(events: readonly RunEvent[], { sequence }: Tail): readonly RunEvent[] {
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

/** An append is not compared with the tail that its writer has seen. */
export const appendsRegardless: Breakage = { append: regardless };

/** Toolhosts do not compare what they write to a journal with what they have read. */
export const journalsRegardless: Breakage = { journalAppend: regardless };

/** A worker parks the run at its end, whatever was written since it looked. */
export const parksWithoutLooking: Breakage = {
  append: (log) => async (key, tail, events, signal) => {
    if (!isPark(events)) return await log.append(key, tail, events, signal);
    const { tail: now } = await log.read(key, emptyTail, signal);
    return await log.append(key, now, moved(events, now), signal);
  },
};

/** A claim does not say by which message it was made. */
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

/** A claim does not say by which delivery of its message it was made. */
export const claimsNameNoDelivery: Breakage = {
  worker: (ports) =>
    withLog(ports, (key, tail, events, signal) => {
      for (const { event } of events) if (event.case === "runClaimed") event.value.attempt = 0;
      return ports.log.append(key, tail, events, signal);
    }),
};

/** A queue takes the same dispatch as often as it is published. */
export const dispatchesAgain: Breakage = { dedupes: false };

/** Nobody looks after runs. */
export const unswept: Breakage = { isUnswept: true };

/** Nobody looks after runs, and nothing goes wrong but that a read is old. */
export const unsweptButForOldReads: Breakage = { ...unswept, faults: /as of one append ago$/ };

/** A worker that follows a call does not look after its request. */
export const callsUnwatched: Breakage = {
  worker: (ports) => {
    const { now } = ports.clock;
    return { ...ports, clock: { now, sleep: restless } };
  },
};

/** A toolhost acknowledges a call that it has not sent on, and nobody looks after its request. */
export const sendsNowhere: Breakage = {
  ...callsUnwatched,
  toolhost: ({ routing, ...ports }) => {
    if (routing === undefined) return ports;
    const nowhere = { publish: async () => 1, holds: async () => true };
    return { ...ports, routing: { ...routing, calls: { ...routing.calls, to: () => nowhere } } };
  },
};

/** A toolhost does not see the messages by which others have begun calls. */
export const seesNoRequests: Breakage = {
  toolhost: (ports) => ({ ...ports, requests: { holds: async () => false } }),
};

/** A worker takes a run over although the queue has the message of its owner. */
export const seesNoMessages: Breakage = {
  worker: (ports) => {
    const publish = ports.dispatch.publish.bind(ports.dispatch);
    return { ...ports, dispatch: { publish, holds: async () => false } };
  },
};

/** Looks that come after a long wait never come. */
async function restless(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs < 10_000) return;
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  await promise;
}

/** Whoever writes after the park tells nobody. */
export const wakesNobody: Breakage = { ...unswept, isSilent: true };
