import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import type { Clock } from "@reeve/platform/async/clock";
import { untilAborted } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";

/** A connection that can be lost. */
export interface Lossy {
  /** Aborts when the connection is lost. */
  readonly lost: AbortSignal;
}

/** A connection and what belongs to it. Disposing closes it. */
export interface Opened<Connection extends Lossy> extends AsyncDisposable {
  readonly connection: Connection;
}

export interface TenantConnectionsOptions<Connection extends Lossy> {
  /**
   * How many connections are open at most, without those that are being closed. For each tenant, one that calls still use does not
   * count after the credentials have changed.
   */
  readonly max: number;
  /** How long an unused connection stays open. */
  readonly idleMs: number;
  /** Opens a connection with credentials. */
  open(tenant: string, credentials: string, signal: AbortSignal): Promise<Opened<Connection>>;
  readonly clock: Clock;
}

/** The use of a connection by one call. */
export interface Lease<Connection> extends Disposable {
  readonly connection: Connection;
}

/** One connection: opening, open, or closing. */
interface Entry<Connection extends Lossy> {
  readonly credentials: string;
  readonly opening: Promise<Opened<Connection>>;
  /** Aborted when the connection shall be closed. */
  readonly end: AbortController;
  users: number;
  readonly tenant: string;
  /** Whether another connection with new credentials has replaced it. */
  isReplaced: boolean;
  /** Ends the wait that closes an unused connection. */
  idle: AbortController | undefined;
}

/** The connections to a server, one for each tenant that uses it now. No tenant ever uses that of another. */
export class TenantConnections<Connection extends Lossy> implements AsyncDisposable {
  readonly #options: TenantConnectionsOptions<Connection>;
  readonly #current = new Map<string, Entry<Connection>>();
  /** Each entry until its connection is closed. */
  readonly #closing = new Map<Entry<Connection>, Promise<void>>();
  #isEnded = false;

  constructor(options: TenantConnectionsOptions<Connection>) {
    this.#options = options;
  }

  /**
   * Returns the connection of a tenant, which is opened if there is none, or if its credentials have changed. Throws a Failure if
   * the maximum is reached and all connections are in use. Rejects with the problem if the connection does not open.
   */
  async lease(
    tenant: string,
    credentials: string,
    signal: AbortSignal,
  ): Promise<Lease<Connection>> {
    const entry = this.#entryOf(tenant, credentials);
    entry.users++;
    entry.idle?.abort();
    try {
      const { connection } = await abortable(entry.opening, signal);
      let isReleased = false;
      const release = () => {
        if (!isReleased) this.#release(tenant, entry);
        isReleased = true;
      };
      return { connection, [Symbol.dispose]: release };
    } catch (error) {
      this.#release(tenant, entry);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    for (const entry of this.#closing.keys()) entry.end.abort();
    await Promise.all(this.#closing.values());
  }

  #entryOf(tenant: string, credentials: string): Entry<Connection> {
    const current = this.#current.get(tenant);
    if (current?.credentials === credentials) return current;
    if (current !== undefined) {
      current.isReplaced = true;
      this.#retire(tenant, current);
    }
    this.#makeRoom();
    const end = new AbortController();
    const opening = this.#options.open(tenant, credentials, end.signal);
    const entry: Entry<Connection> = {
      credentials,
      opening,
      end,
      users: 0,
      tenant,
      isReplaced: false,
      idle: undefined,
    };
    this.#current.set(tenant, entry);
    this.#closing.set(entry, this.#closeAtEnd(tenant, entry));
    return entry;
  }

  /** Closes the connection when it is lost, or no longer wanted. */
  async #closeAtEnd(tenant: string, entry: Entry<Connection>): Promise<void> {
    try {
      await using opened = await entry.opening;
      await untilAborted(AbortSignal.any([opened.connection.lost, entry.end.signal]));
      this.#forget(tenant, entry);
    } catch {
      // Those who wait for the connection learn why it did not open.
      this.#forget(tenant, entry);
    }
    entry.idle?.abort();
    this.#closing.delete(entry);
  }

  #forget(tenant: string, entry: Entry<Connection>): void {
    if (this.#current.get(tenant) === entry) this.#current.delete(tenant);
  }

  /** Gives the tenant a new connection from now on. Calls that use this one end first. */
  #retire(tenant: string, entry: Entry<Connection>): void {
    this.#forget(tenant, entry);
    if (entry.users === 0) entry.end.abort();
  }

  #makeRoom(): void {
    const { max } = this.#options;
    if (this.#isEnded) throw unavailable("is not available any more: the toolhost ends");
    if (this.#counted() < max) return;
    const unused = [...this.#current].find(([, { users }]) => users === 0);
    if (unused !== undefined) this.#retire(...unused);
    else {
      throw unavailable(
        `has ${max} connections in use, of as many tenants; try again later, or raise max_tenants of the server`,
      );
    }
  }

  #counted(): number {
    const open = [...this.#closing.keys()].filter(({ end }) => !end.signal.aborted);
    const replaced = open.filter(({ isReplaced }) => isReplaced).map(({ tenant }) => tenant);
    return open.length - new Set(replaced).size;
  }

  #release(tenant: string, entry: Entry<Connection>): void {
    entry.users--;
    if (entry.users > 0) return;
    if (this.#current.get(tenant) !== entry) return entry.end.abort();
    // The first entries are those that were unused for the longest time.
    this.#current.delete(tenant);
    this.#current.set(tenant, entry);
    const idle = new AbortController();
    entry.idle = idle;
    const { clock, idleMs } = this.#options;
    void clock.sleep(idleMs, idle.signal).then(
      () => this.#retire(tenant, entry),
      // It is used again, or closed.
      () => undefined,
    );
  }
}

function unavailable(problem: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
