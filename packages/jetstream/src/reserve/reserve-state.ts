import type { Logger } from "@reeve/platform/telemetry/logger";
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

/** Interval between looks of a gateway at the reserve, and between its announcements while the reserve is in use. */
export const keptMs = 5_000;

/** What this process knows of the reserve. */
export interface ReserveState {
  /**
   * Whether the reserve was freed, and could not be filled again yet. Only `keepReserve` and `watchReserve` change it: a process that
   * runs neither would never learn that the reserve is whole again.
   */
  isSpent: boolean;
  /** When a write last found no room although it had freed the reserve again and again. Monotonic, in milliseconds. */
  usedUpAtMs: number;
}

const states = new WeakMap<NatsConnection, ReserveState>();

/** Returns the state that all users of a connection share. */
export function reserveState(connection: NatsConnection): ReserveState {
  const known = states.get(connection);
  if (known !== undefined) return known;
  const state = { isSpent: false, usedUpAtMs: -Infinity };
  states.set(connection, state);
  return state;
}

/** Returns a function that sets whether the reserve is spent, and reports each change. */
export function spentSetter(connection: NatsConnection, log: Logger): (isSpent: boolean) => void {
  const state = reserveState(connection);
  return (isSpent) => {
    if (state.isSpent === isSpent) return;
    state.isSpent = isSpent;
    if (isSpent) log.warn("the store is full, and its reserve is in use; nothing new is accepted");
    else log.info("the store has room again");
  };
}

/** Calls `listener` each time that a process announces that it has freed the reserve, until disposed. */
export function whenFreed(connection: NatsConnection, listener: () => void): Disposable {
  const subscription = connection.subscribe(reserveFreed, {
    callback: (error) => {
      if (error === null) listener();
    },
  });
  return {
    [Symbol.dispose]: () => {
      if (!connection.isClosed()) subscription.unsubscribe();
    },
  };
}
