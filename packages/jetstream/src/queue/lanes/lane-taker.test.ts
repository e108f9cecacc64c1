import type { Msg } from "@nats-io/transport-node";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { expect, test } from "vitest";
import type { Delivery } from "../port.ts";
import type { LaneSource } from "./lane-taker.ts";
import { LaneTaker } from "./lane-taker.ts";
import type { LanePull } from "./lane-turns.ts";
import type { PullEnd } from "./pull.ts";
import { PulledMessage } from "./pulled-message.ts";

const never = new AbortController().signal;

/** A message of a lane in which `pending` others wait. */
function message(lane: number, pending: number): PulledMessage {
  const reply = `$JS.ACK.DISPATCH.lane-${lane}.1.7.7.0.${pending}`;
  return new PulledMessage({ reply, subject: "dispatch", respond: () => true } as unknown as Msg);
}

/** Two lanes whose pulls the test answers. */
class Lanes implements LaneSource<number> {
  readonly count = 2;
  readonly begun: LanePull[] = [];
  readonly #answers = new Map<number, (pulled: PulledMessage | undefined, end: PullEnd) => void>();

  pull(
    begun: LanePull,
    onMessage: (message: PulledMessage, pulledAt: number) => void,
    onEnd: (end: PullEnd) => void,
  ): void {
    this.begun.push(begun);
    this.#answers.set(begun.lane, (pulled, end) => {
      if (pulled !== undefined) onMessage(pulled, performance.now());
      onEnd(end);
    });
  }

  answer(lane: number, pulled: PulledMessage | undefined, end: PullEnd): void {
    this.#answers.get(lane)?.(pulled, end);
  }

  recover(): Promise<void> {
    return Promise.resolve();
  }

  deliver(lane: number, pulled: PulledMessage, _: number, permit: Disposable): Delivery<number> {
    const settle = () => permit[Symbol.dispose]();
    return {
      message: lane,
      sequence: pulled.info.streamSequence,
      attempt: pulled.info.deliveryCount,
      extend: () => undefined,
      acknowledge: settle,
      returnToQueue: settle,
      abandon: settle,
    };
  }
}

// Requirement: HOST-10
test("a lane whose pull is never answered does not keep the only slot from the other lane", async () => {
  const lanes = new Lanes();
  const taker = new LaneTaker(lanes, new Semaphore(1), never);
  const first = taker.next();
  // Lane 0 says that five more messages wait.
  lanes.answer(1, undefined, "empty");
  lanes.answer(0, message(0, 5), "filled");
  const delivery = await first;
  const second = taker.next();
  delivery.acknowledge();
  await expect.poll(() => lanes.begun.at(-1)).toEqual({ lane: 1, batch: 1, waits: false });
  lanes.answer(1, undefined, "empty");
  await expect.poll(() => lanes.begun.at(-1)).toEqual({ lane: 0, batch: 1, waits: false });

  await expect.poll(() => lanes.begun.at(-1)).toEqual({ lane: 1, batch: 1, waits: true });
  lanes.answer(1, message(1, 0), "filled");
  expect((await second).message).toBe(1);
});
