import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { FeedPosition, Projection } from "@reeve/contracts/projection";
import {
  FeedPositionSchema,
  ProjectionSchema,
  TenantBehindSchema,
} from "@reeve/contracts/projection";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Row, Table } from "../../table/port.ts";
import type { ReadState } from "./progress.ts";

/** A message that a reader has received. */
export interface ReceivedMessage {
  readonly sequence: number;
  /** When the stream stored it, in milliseconds since the epoch. */
  readonly storedAtMs: number;
}

/** How far a feed was read. */
export interface ReadPosition {
  /** Identifies the stream. */
  readonly instance: string;
  readonly state: ReadState;
  /** The last one. Undefined: nothing was received. */
  readonly received: ReceivedMessage | undefined;
}

/** How many times a position is written while other processes write theirs. */
const maxAttempts = 3;

type PositionTable = Pick<Table<Projection>, "get" | "create" | "update" | "delete">;

/** The position of a feed that all processes with its name share. */
export class StoredPosition {
  readonly #table: PositionTable;
  readonly #name: string;
  readonly #log: Pick<Logger, "error">;
  /** As this process knows it. */
  #row: Row<Projection> | undefined;

  constructor(table: PositionTable, name: string, log: Pick<Logger, "error">) {
    this.#table = table;
    this.#name = name;
    this.#log = log;
  }

  /** Returns the position; undefined: there is none yet, or it could not be decoded. */
  async read(signal: AbortSignal): Promise<ReadPosition | undefined> {
    this.#row = await this.#stored(signal);
    const position = this.#row?.record.position;
    return position && fromRecord(position);
  }

  /**
   * Stores a position, unless another process has stored this one or a later one. `replaces`: whatever is stored, because the stream has lost
   * what was read. A position that is not stored repeats work, and loses nothing.
   */
  async store(
    position: ReadPosition,
    { replaces }: { readonly replaces: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = this.#row ?? (await this.#stored(signal));
      if (!replaces && covers(row?.record.position, position)) return;
      const record = create(ProjectionSchema, {
        name: this.#name,
        position: toRecord(position),
      });
      this.#row =
        row === undefined
          ? await this.#table.create(this.#name, record, signal)
          : await this.#table.update(this.#name, record, row.revision, signal);
      if (this.#row !== undefined) return;
    }
  }

  /** Returns the stored row. Deletes one that cannot be decoded: without a position, work is repeated, and with it nothing is read. */
  async #stored(signal: AbortSignal): Promise<Row<Projection> | undefined> {
    try {
      return await this.#table.get(this.#name, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Failure) throw error;
      this.#log.error({ err: error, feed: this.#name }, "position cannot be decoded; deleting it");
      await this.#table.delete(this.#name, signal);
      return undefined;
    }
  }
}

/** Returns whether a stored position says all that another one says, so that several processes do not write the same one in turns. */
function covers(stored: FeedPosition | undefined, { instance, state }: ReadPosition): boolean {
  if (stored?.streamInstance !== instance) return false;
  const namesNothing = stored.tenantsBehind.length === 0 && stored.setAside.length === 0;
  const ahead = Number(stored.sequence) - state.sequence;
  return ahead > 0 || (ahead === 0 && namesNothing);
}

function fromRecord(position: FeedPosition): ReadPosition {
  const { streamInstance, sequence, receivedSequence, receivedStoredAt } = position;
  const behind = position.tenantsBehind.map(
    ({ tenant, afterSequence }) => [tenant, Number(afterSequence)] as const,
  );
  return {
    instance: streamInstance,
    state: {
      sequence: Number(sequence),
      behind: new Map(behind),
      aside: position.setAside.map(Number),
    },
    received: receivedStoredAt && {
      sequence: Number(receivedSequence),
      storedAtMs: timestampMs(receivedStoredAt),
    },
  };
}

function toRecord({ instance, state, received }: ReadPosition): FeedPosition {
  return create(FeedPositionSchema, {
    streamInstance: instance,
    sequence: BigInt(state.sequence),
    ...(received && {
      receivedSequence: BigInt(received.sequence),
      receivedStoredAt: timestampFromMs(received.storedAtMs),
    }),
    tenantsBehind: [...state.behind].map(([tenant, after]) =>
      create(TenantBehindSchema, { tenant, afterSequence: BigInt(after) }),
    ),
    setAside: state.aside.map(BigInt),
  });
}
