import type { Signalled } from "@reeve/platform/async/signalled";
import type { Routing } from "../ports/routing.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { callKeyOf } from "../journal/call-key.ts";
import { executeCall } from "../execute/execute-call.ts";
import { forwardedCalls } from "./forwarded-calls.ts";
import { sendBack } from "./send-on.ts";
import type { TakenCall } from "./send-on.ts";
import type { Slots } from "./slots.ts";
import type { WorkSignals } from "./work-calls.ts";

/** How long a host rests between two looks when nobody says that one is gone. */
const lookMs = 10_000;
/** How long it rests when it has left something. */
const againMs = 1_000;
/** How long it adopts calls of one host before it looks whether that is still gone. */
const adoptMs = 2_000;

/** A host that may adopt. */
export interface Adopter {
  readonly ports: ToolhostPorts & { readonly routing: Routing };
  readonly slots: Slots;
  /** Says that a host may be gone. */
  readonly left: Signalled;
}

/**
 * Adopts the calls that lie for hosts of the pool that are gone, until it is to take no more. Several adopters at once share
 * them. The queue of a gone host is taken away by a look that finds nothing in it, as the one before did.
 */
export async function adoptCalls(adopter: Adopter, signals: WorkSignals): Promise<void> {
  const { routing, host: self } = adopter.ports;
  const { calls, mates } = routing;
  const { taking } = signals;
  let empty: ReadonlySet<string> = new Set();
  for (;;) {
    const found = new Set<string>();
    let isMore = false;
    for (const host of await calls.hosts(taking)) {
      if (host === self || !(await mates.isGone(host, taking))) continue;
      const isLeft = await adoptFrom(host, adopter, signals);
      if (isLeft) isMore = true;
      else if (empty.has(host)) await calls.remove(host, taking);
      else found.add(host);
    }
    empty = found;
    await adopter.left.wait(isMore ? againMs : lookMs, taking);
  }
}

/** Takes from the queue of a gone host for a while, if anything lies there. Whether something is left. */
async function adoptFrom(
  host: string,
  { ports, slots }: Adopter,
  { taking, running }: WorkSignals,
): Promise<boolean> {
  const { routing, log } = ports;
  const { calls } = routing;
  // What lies there without a queue is counted once that is there.
  const queue = await calls.open(host);
  if (!(await isLeft(host, routing, taking))) return false;
  log.info({ gone: host }, "calls of a host that is gone are adopted");
  const enough = AbortSignal.timeout(adoptMs);
  try {
    const until = AbortSignal.any([taking, enough]);
    await adoptEach(forwardedCalls(queue, slots.capacity, until), { ports, slots }, running);
  } catch (error) {
    if (!enough.aborted || taking.aborted) throw error;
  }
  return await isLeft(host, routing, taking);
}

async function isLeft(host: string, { calls }: Routing, signal: AbortSignal): Promise<boolean> {
  const { waiting, delivered } = await calls.backlog(host, signal);
  return waiting + delivered > 0;
}

/** Settles the calls of a gone host as they are taken. */
export async function adoptEach(
  calls: AsyncIterable<TakenCall>,
  { ports, slots }: Pick<Adopter, "ports" | "slots">,
  running: AbortSignal,
): Promise<void> {
  const { routing, ...own } = ports;
  for await (const taken of calls) {
    slots.begin(taken, () => adopt(taken, own, routing, running));
  }
}

/**
 * Settles one call of a gone host. One that has not begun goes to the pool, where it gets a holder. One that has is decided by
 * its journal: this is another delivery of the very message by which it was begun.
 */
async function adopt(
  taken: TakenCall,
  own: ToolhostPorts,
  { requests }: Routing,
  running: AbortSignal,
): Promise<void> {
  try {
    const key = callKeyOf(taken.message);
    if (await sendBack(taken, key, { journal: own.journal, requests }, running)) return;
  } catch (error) {
    if (!running.aborted) own.log.warn({ err: error }, "call could not be sent back to its pool");
    return taken.returnToQueue(againMs);
  }
  await executeCall(taken, own, running);
}
