import type { NetworkEntry } from "@reeve/agent/spec/network-entry";
import { permitsHost } from "@reeve/agent/spec/network-entry";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { CredentialUse } from "../port.ts";
import type { Target } from "./call-traffic.ts";

/** A header with a secret that the proxy adds to requests for some hosts, so that no sandbox has the secret. */
export interface NetworkCredential {
  readonly name: string;
  readonly hosts: readonly NetworkEntry[];
  /** Name of the header, in lowercase. */
  readonly header: string;
  /** The tenants whose agents may use it. Undefined: all. */
  readonly tenants: ReadonlySet<string> | undefined;
  /** The authority of the certificates of the hosts. Undefined: those that this process trusts. */
  readonly ca: string | undefined;
  /** Returns the value of the header. Throws a Failure that a model may read, without the value. */
  value(tenant: string, signal: AbortSignal): Promise<HeaderValue>;
}

/** The value of a header, and the secrets in it. */
export interface HeaderValue {
  readonly text: string;
  readonly secrets: readonly string[];
}

/** What the proxy adds to a request, and how it verifies the host. */
export interface AddedHeaders {
  readonly names: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The secrets in the headers. */
  readonly secrets: readonly string[];
  readonly ca: string | undefined;
}

/** The credentials of this host for one call. A call uses those that its agent names. */
export class CallCredentials {
  readonly #all: readonly NetworkCredential[];
  readonly #tenant: string;
  readonly #names: ReadonlySet<string>;

  /** Throws a Failure if the call names a credential that this host does not have for its tenant. */
  constructor(all: readonly NetworkCredential[], use: CredentialUse | undefined) {
    const { tenant = "", names = [] } = use ?? {};
    for (const name of names) {
      const found = all.find((each) => each.name === name);
      if (found === undefined || !isFor(found, tenant)) throw unknown(name, tenant);
    }
    this.#all = all;
    this.#tenant = tenant;
    this.#names = new Set(names);
  }

  /** Whether requests for a target are sent over TLS, with a header of a credential. Others are sent as they are. */
  has(target: Target): boolean {
    return this.#at(target).length > 0;
  }

  /** Whether the call uses a credential for a target. */
  uses(target: Target): boolean {
    return this.#at(target).some(({ name }) => this.#names.has(name));
  }

  /** Returns why a plain request for the target is refused; undefined if it is not. */
  refusal(target: Target): string | undefined {
    const at = this.#at(target);
    if (at.length === 0) return undefined;
    const used = at.filter(({ name }) => this.#names.has(name));
    const where = `${target.host}:${target.port}`;
    if (used.length === 0) {
      const names = at.filter((each) => isFor(each, this.#tenant)).map(({ name }) => name);
      return names.length === 0
        ? `plain requests for ${where} need a credential that agents of this tenant may not use: use https`
        : `plain requests for ${where} need the credential ${names.join(", ")}, which this call does not use: name it in deep_agent.network.credentials of the agent, or use https`;
    }
    const twice = used.find(
      ({ name, header }) => used.find((each) => each.header === header)?.name !== name,
    );
    if (twice !== undefined) {
      return `several credentials of this agent set the header ${twice.header} for ${where}: use one of them`;
    }
    // One connection carries the headers of all, so each of them would be given to a host that another one trusts.
    return used.some(({ ca }) => ca !== used[0]?.ca)
      ? `several credentials of this agent verify ${where} by different authorities (ca_file): use one of them`
      : undefined;
  }

  /** Returns what is added to a request for a target that is not refused. Throws a Failure if a secret cannot be read. */
  async headersFor(target: Target, signal: AbortSignal): Promise<AddedHeaders> {
    const used = this.#at(target).filter(({ name }) => this.#names.has(name));
    const values = await Promise.all(
      used.map(async (each) => ({
        header: each.header,
        ...(await each.value(this.#tenant, signal)),
      })),
    );
    return {
      names: used.map(({ name }) => name),
      headers: Object.fromEntries(values.map(({ header, text }) => [header, text])),
      secrets: values.flatMap(({ secrets }) => secrets),
      ca: used[0]?.ca,
    };
  }

  #at({ host, port }: Target): readonly NetworkCredential[] {
    return this.#all.filter(({ hosts }) => permitsHost(hosts, host, port));
  }
}

function isFor({ tenants }: NetworkCredential, tenant: string): boolean {
  return tenants === undefined || tenants.has(tenant);
}

function unknown(name: string, tenant: string): Failure {
  const problem = `the agent names the credential ${name}, which this toolhost does not have for tenant ${tenant}`;
  const remedy =
    "remove it from deep_agent.network.credentials, or add it to REEVE_SECRETS_CONFIG of the toolhost";
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, `no network: ${problem}; ${remedy}`);
}
