import type { JetStreamManager } from "@nats-io/jetstream";
import { sleep } from "@reeve/platform/async/sleep";
import { callStore } from "../../streams/call-store.ts";
import { isNotFound } from "../../streams/errors.ts";
import { streamPosition } from "../../streams/ordered-messages.ts";
import type { StreamMessages } from "../../streams/stream-messages.ts";
import type { ReadState } from "./progress.ts";
import type { ReadPosition, ReceivedMessage } from "./stored-position.ts";

/** A new leader may lag for a moment, so a stream that seems to have lost messages is checked once more after this time. */
const recheckMs = 1_000;

/** The stream that a position is a place of. */
export interface ReadStream {
  readonly name: string;
  readonly manager: Pick<JetStreamManager, "streams" | "consumers">;
  readonly messages: Pick<StreamMessages, "assigned">;
}

/**
 * Returns the position at which a process starts to read: the stored one, or what was acknowledged to the durable consumer of the same
 * name, whichever is later. Processes that share their work, and earlier versions, read with that consumer. With neither, the
 * beginning.
 */
export async function startPosition(
  stream: ReadStream,
  consumer: string,
  stored: ReadPosition | undefined,
): Promise<ReadPosition> {
  const { instance } = await streamPosition(stream.manager, stream.name);
  const acknowledged = await acknowledgedThrough(stream, consumer);
  const position = stored ?? { instance, state: beginning, received: undefined };
  if (position.instance !== instance) return position;
  const sequence = Math.max(position.state.sequence, acknowledged);
  return { ...position, state: { ...position.state, sequence } };
}

/** Returns the sequence up to which everything was acknowledged to a durable consumer; 0 if there is no such consumer. */
async function acknowledgedThrough(
  { name, manager }: ReadStream,
  consumer: string,
): Promise<number> {
  return await callStore(async () => {
    try {
      return (await manager.consumers.info(name, consumer)).ack_floor.stream_seq;
    } catch (error) {
      if (isNotFound(error)) return 0;
      throw error;
    }
  });
}

/**
 * Returns the position from which reading continues: `position`, or the beginning of the stream if the stream was replaced, or does
 * not have any more what was read.
 */
export async function checkedPosition(
  stream: ReadStream,
  position: ReadPosition,
  signal: AbortSignal,
): Promise<ReadPosition> {
  const { instance } = await streamPosition(stream.manager, stream.name);
  const replaced = { instance, state: beginning, received: undefined };
  if (position.instance !== instance) return replaced;
  if (await isIntact(stream, position)) return position;
  await sleep(recheckMs, signal);
  return (await isIntact(stream, position)) ? position : replaced;
}

const beginning: ReadState = { sequence: 0, behind: new Map(), aside: [] };

async function isIntact(
  { name, manager, messages }: ReadStream,
  { state, received }: ReadPosition,
): Promise<boolean> {
  const last = await streamPosition(manager, name);
  if (last.sequence < Math.max(state.sequence, received?.sequence ?? 0)) return false;
  return received === undefined || (await isThere(messages, received));
}

/** Returns whether a message is still the one that was received. One that was deleted says nothing. */
async function isThere(
  messages: ReadStream["messages"],
  { sequence, storedAtMs }: ReceivedMessage,
): Promise<boolean> {
  const stored = await messages.assigned(sequence);
  // The client and the server round differently.
  return stored === undefined || Math.abs(Date.parse(stored.storedAt) - storedAtMs) <= 1;
}
