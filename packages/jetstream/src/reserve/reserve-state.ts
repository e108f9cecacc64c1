import { channelOf } from "@reeve/contracts/channel";
import { ReserveFreedSchema } from "@reeve/contracts/reserve";
import type { NatsConnection } from "@nats-io/transport-node";

/**
 * The stream that keeps room in the store for what must be possible when everything else is refused. Clients of NATS cannot
 * learn how much a server or an account may store, so the room is kept by content that can be removed at once.
 */
export const reserveStream = "RESERVE";

/** The subject on which a process announces that it has freed the reserve. */
export const reserveFreed = channelOf(ReserveFreedSchema).subject({});

/** What this process knows of the reserve. */
export interface ReserveState {
  /** Whether the reserve was freed, and could not be filled again yet. */
  isSpent: boolean;
}

const states = new WeakMap<NatsConnection, ReserveState>();

/** Returns the state that all users of a connection share. */
export function reserveState(connection: NatsConnection): ReserveState {
  const known = states.get(connection);
  if (known !== undefined) return known;
  const state = { isSpent: false };
  states.set(connection, state);
  return state;
}
