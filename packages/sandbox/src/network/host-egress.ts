import { request } from "node:http";
import type { Duplex } from "node:stream";
import type { NetworkEntry } from "@reeve/agent/spec/network-entry";
import { normalizeHost } from "@reeve/agent/spec/network-entry";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { NetworkUse } from "../port.ts";
import type { Target } from "./call-traffic.ts";
import type { Lookups } from "./lookups.ts";
import type { NetworkCredential } from "./network-credential.ts";
import { CallCredentials } from "./network-credential.ts";
import type { NetworkPolicy } from "./network-policy.ts";
import { permittedEntries } from "./network-policy.ts";
import { SandboxProxy } from "./sandbox-proxy.ts";
import { secureSocket } from "./secure-socket.ts";

export interface HostEgressOptions {
  readonly policy: NetworkPolicy;
  /** The lookups of this process, whose number is limited. */
  readonly lookups: Lookups;
  readonly log: Pick<Logger, "info">;
  /** What the proxy adds to requests. Default: nothing. */
  readonly credentials?: readonly NetworkCredential[] | undefined;
  /** The authorities of servers, in PEM. Default: those that this process trusts. */
  readonly ca?: string | undefined;
}

/** A connection on which one HTTP request may be sent. */
export interface OpenRoute {
  readonly kind: "open";
  readonly stream: Duplex;
  /** The target of the request line. */
  readonly path: string;
  /**
   * Returns the target of a redirect as the server sent it. A proxy that adds a header makes redirects to the same server plain, for
   * clients that reach the server with the header only so.
   */
  sentLocation(location: URL): URL;
}

/** A connection, or the reason why there is none. */
export type EgressRoute =
  | OpenRoute
  | { readonly kind: "refused" | "failed"; readonly reason: string };

/** What one connection of a call may use. */
export interface RouteUse {
  /** Whether it uses no credential, even if the call names one for the host. Default: false. */
  readonly isAnonymous?: boolean | undefined;
}

/** The network of one call of a tool that runs in this process. Disposing ends all its connections. */
export interface CallEgress extends AsyncDisposable {
  /**
   * Connects to the server of an `http:` or `https:` URL. Requests for hosts of a credential that the call uses go through the
   * proxy, which adds the header; all others go through a tunnel.
   */
  connect(url: URL, use: RouteUse, signal: AbortSignal): Promise<EgressRoute>;
}

/**
 * The network of tools that run in this process instead of a sandbox. Each call has its own proxy, the same as that of a sandbox:
 * with the same allowlist, blocked addresses, limits, credentials, and log lines.
 */
export class HostEgress {
  readonly #options: HostEgressOptions;

  constructor(options: HostEgressOptions) {
    this.#options = options;
  }

  /** Throws a Failure if the call requests hosts or credentials that its operator does not permit. */
  open(use: NetworkUse): CallEgress {
    return this.#open(use, permittedEntries(use.allow, this.#options.policy));
  }

  /** Opens the network for work of this process itself: with all hosts that its operator permits, and without credentials. */
  openPermitted(use: Pick<NetworkUse, "runId" | "callId">): CallEgress {
    const { allow } = this.#options.policy;
    return this.#open({ ...use, allow: allow.map(({ text }) => text) }, allow);
  }

  #open(use: NetworkUse, entries: readonly NetworkEntry[]): CallEgress {
    const { policy, lookups, log, credentials = [], ca } = this.#options;
    const used = new CallCredentials(credentials, use.credentials);
    const proxy = new SandboxProxy({ ...policy, entries, lookups, log, credentials });
    const serving = proxy.serve(use);
    return {
      connect: async (url, { isAnonymous = false }, until) => {
        const target = targetOf(url);
        if (target === undefined)
          return { kind: "refused", reason: `${url.host} is no valid host` };
        if (!isAnonymous && used.uses(target)) {
          const path = `http://${authorityOf(target)}${url.pathname}${url.search}`;
          const sentLocation = (location: URL) => securedLocation(location, url, target);
          return { kind: "open", stream: proxy.connect(), path, sentLocation };
        }
        const tunnel = await openTunnel(proxy, target, until);
        if (tunnel.kind !== "open") return tunnel;
        const path = `${url.pathname}${url.search}`;
        const route = { kind: "open", path, sentLocation: (location: URL) => location } as const;
        if (url.protocol === "http:") return { ...route, stream: tunnel.stream };
        const secured = await secureSocket(tunnel.stream, { host: target.host, ca }, until);
        return secured.kind === "open" ? { ...route, stream: secured.socket } : secured;
      },
      [Symbol.asyncDispose]: async () => {
        serving[Symbol.dispose]();
        await proxy[Symbol.asyncDispose]();
      },
    };
  }
}

type Tunnel =
  | { readonly kind: "open"; readonly stream: Duplex }
  | { readonly kind: "refused" | "failed"; readonly reason: string };

async function openTunnel(
  proxy: SandboxProxy,
  target: Target,
  signal: AbortSignal,
): Promise<Tunnel> {
  const { promise, resolve, reject } = Promise.withResolvers<Tunnel>();
  const asked = request({
    createConnection: () => proxy.connect(),
    method: "CONNECT",
    path: authorityOf(target),
    signal,
  });
  asked.once("error", reject);
  asked.once("connect", ({ statusCode = 502 }, stream: Duplex, head: Buffer) => {
    stream.on("error", () => undefined);
    if (statusCode === 200) {
      if (head.length > 0) stream.unshift(head);
      return resolve({ kind: "open", stream });
    }
    const kind = statusCode === 403 ? "refused" : "failed";
    // The proxy sends its answer to a refused tunnel in one piece.
    resolve({ kind, reason: head.toString().trim() });
    stream.destroy();
  });
  asked.end();
  return await promise;
}

function targetOf(url: URL): Target | undefined {
  const host = normalizeHost(url.hostname);
  const standard = url.protocol === "https:" ? 443 : 80;
  if (host === undefined) return undefined;
  return { host, port: url.port === "" ? standard : Number(url.port) };
}

/** Makes a redirect to the same server one of https again, if the request was. */
function securedLocation(location: URL, { protocol }: URL, target: Target): URL {
  const to = location.protocol === "http:" ? targetOf(location) : undefined;
  if (protocol !== "https:" || to?.host !== target.host || to.port !== target.port) return location;
  const { pathname, search, hash } = location;
  return new URL(`https://${authorityOf(target)}${pathname}${search}${hash}`);
}

function authorityOf({ host, port }: Target): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
