import type { Logger } from "@reeve/platform/telemetry/logger";
import type {
  ExecEvent,
  NetworkUse,
  ProbeReport,
  SandboxCommand,
  SandboxDriver,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../port.ts";
import type { Identity } from "../host/identity.ts";
import type { NetworkCredential } from "./network-credential.ts";
import type { NetworkPolicy } from "./network-policy.ts";
import { permittedEntries } from "./network-policy.ts";
import { proxyFolder } from "./proxy-folder.ts";
import type { Lookups } from "./lookups.ts";
import { SandboxProxy } from "./sandbox-proxy.ts";

export interface NetworkedDriverOptions {
  readonly policy: NetworkPolicy;
  readonly identity: Identity;
  /** Returns the parent folder of the proxies' sockets. */
  readonly folder: () => string;
  /** The lookups of this process, whose number is limited. */
  readonly lookups: Lookups;
  readonly log: Pick<Logger, "info">;
  /** What the proxies add to requests. Default: nothing. */
  readonly credentials?: readonly NetworkCredential[] | undefined;
}

/**
 * Adds network access to the sandboxes of another driver, which have none. A sandbox whose spec requests network access that
 * the operator permits gets its own proxy. Other sandboxes are unchanged.
 */
export class NetworkedDriver implements SandboxDriver {
  readonly #driver: SandboxDriver;
  readonly #options: NetworkedDriverOptions;

  constructor(driver: SandboxDriver, options: NetworkedDriverOptions) {
    this.#driver = driver;
    this.#options = options;
  }

  get name(): string {
    return this.#driver.name;
  }

  probe(signal: AbortSignal): Promise<ProbeReport> {
    return this.#driver.probe(signal);
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    const requested = spec.network ?? [];
    if (requested.length === 0) return await this.#driver.open(spec, signal);
    const { policy, identity, folder: below, lookups, log, credentials } = this.#options;
    const entries = permittedEntries(requested, policy);
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(await proxyFolder(below(), identity));
    const proxy = opening.use(new SandboxProxy({ ...policy, entries, lookups, log, credentials }));
    await folder.publish((path) => proxy.listen(path));
    const session = opening.use(
      await this.#driver.open({ ...spec, proxyDir: folder.path }, signal),
    );
    return new NetworkedSession(session, proxy, opening.move());
  }

  list(signal: AbortSignal): Promise<readonly SessionRecord[]> {
    return this.#driver.list(signal);
  }

  destroy(sessionId: string, signal: AbortSignal): Promise<void> {
    return this.#driver.destroy(sessionId, signal);
  }
}

class NetworkedSession implements SandboxSession {
  readonly skillsMountPoint?: string;
  readonly #session: SandboxSession;
  readonly #proxy: SandboxProxy;
  readonly #resources: AsyncDisposableStack;

  constructor(session: SandboxSession, proxy: SandboxProxy, resources: AsyncDisposableStack) {
    this.#session = session;
    if (session.skillsMountPoint !== undefined) this.skillsMountPoint = session.skillsMountPoint;
    this.#proxy = proxy;
    this.#resources = resources;
  }

  get sessionId(): string {
    return this.#session.sessionId;
  }

  async *exec(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent> {
    using calls = new DisposableStack();
    if (command.network !== undefined) calls.use(this.#proxy.serve(command.network));
    yield* this.#session.exec(command, signal);
  }

  renewNetwork(use: NetworkUse): void {
    this.#proxy.renew(use);
  }

  settled(): Promise<boolean> {
    return this.#session.settled();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}
