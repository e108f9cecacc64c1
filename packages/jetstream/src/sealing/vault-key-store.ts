import { readFile } from "node:fs/promises";
import type { JsonAnswer } from "@reeve/platform/oidc/fetch-json";
import { fetchJson } from "@reeve/platform/oidc/fetch-json";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { z } from "zod";
import { dataKeyNotAuthentic, keysUnavailable } from "./key-failures.ts";
import type { KeyAdmin, KeyStore, WrappedKey } from "./key-store.ts";
import { versionNumber } from "./key-store.ts";
import { checkedTenant } from "./tenant-name.ts";

export interface VaultKeyOptions {
  readonly url: string;
  readonly tokenFile: string;
  /** The mount of the transit engine. */
  readonly mount: string;
  /** The name of a tenant's key, in which `{tenant}` stands for the tenant. */
  readonly keyName: string;
  /** The namespace of Vault Enterprise, HCP, or OpenBao. Undefined: none. */
  readonly namespace: string | undefined;
}

const encrypted = z.object({ data: z.object({ ciphertext: z.string().regex(/^vault:v\d+:/) }) });
const decrypted = z.object({ data: z.object({ plaintext: z.base64() }) });
const described = z.object({
  data: z.object({
    latest_version: z.number().int().positive(),
    min_decryption_version: z.number().int().optional(),
  }),
});
const problems = z.object({ errors: z.array(z.string()) });

/**
 * Keys of tenants in a transit engine of Vault, OpenBao, or a compatible server. An operator creates the key of each tenant; Vault
 * answers the same for a key that was deleted and for one that is missing for now, such as after Vault was restored from an older
 * snapshot. So a missing key is unavailable, and only the row of `deleteTenantKey` says that it was deleted. The policy of the
 * services should permit `update` only: with `create`, the server would make a new key for a tenant without one.
 */
export class VaultKeyStore implements KeyStore, KeyAdmin {
  readonly #options: VaultKeyOptions;

  constructor(options: VaultKeyOptions) {
    this.#options = options;
  }

  async wrap(tenant: string, dataKey: Uint8Array, signal: AbortSignal): Promise<WrappedKey> {
    const given = { plaintext: base64(dataKey), associated_data: contextOf(tenant) };
    const answer = await this.#post(`encrypt/${this.#nameOf(tenant)}`, given, signal);
    const parsed = encrypted.safeParse(this.#accepted(tenant, answer));
    if (!parsed.success) throw keysUnavailable("it answers without a ciphertext");
    const { ciphertext } = parsed.data.data;
    return { version: ciphertext.split(":")[1] ?? "", bytes: Buffer.from(ciphertext) };
  }

  async unwrap(tenant: string, { bytes }: WrappedKey, signal: AbortSignal): Promise<Uint8Array> {
    const ciphertext = Buffer.from(bytes).toString("latin1");
    const given = { ciphertext, associated_data: contextOf(tenant) };
    const answer = await this.#post(`decrypt/${this.#nameOf(tenant)}`, given, signal);
    const parsed = decrypted.safeParse(this.#accepted(tenant, answer));
    if (!parsed.success) throw keysUnavailable("it answers without a plaintext");
    return Buffer.from(parsed.data.data.plaintext, "base64");
  }

  /** Vault changes a key at once, and no version is deleted that a data key may have, so commands need no lock. */
  lock(): Promise<AsyncDisposable> {
    return Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() });
  }

  async rotate(tenant: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#post(`keys/${this.#nameOf(tenant)}/rotate`, {}, signal);
    this.#accepted(tenant, answer);
  }

  async retire(tenant: string, oldest: string, signal: AbortSignal): Promise<void> {
    const path = `keys/${this.#nameOf(tenant)}`;
    const answer = await this.#send("GET", path, undefined, signal);
    const parsed = described.safeParse(this.#accepted(tenant, answer));
    if (!parsed.success) throw keysUnavailable("it does not say which version of a key is current");
    const { latest_version: current, min_decryption_version: before = 1 } = parsed.data.data;
    const min = Math.max(before, Math.min(versionNumber(oldest), current));
    const given = { min_decryption_version: min, min_encryption_version: min };
    this.#accepted(tenant, await this.#post(`${path}/config`, given, signal));
  }

  async delete(tenant: string, signal: AbortSignal): Promise<void> {
    const path = `keys/${this.#nameOf(tenant)}`;
    const permitted = await this.#post(`${path}/config`, { deletion_allowed: true }, signal);
    if (isMissing(permitted, this.#nameOf(tenant))) return;
    this.#accepted(tenant, permitted);
    this.#accepted(tenant, await this.#send("DELETE", path, undefined, signal));
  }

  /** Returns the body of an answer. Throws a Failure for one that refuses. */
  #accepted(tenant: string, answer: JsonAnswer): unknown {
    const { status, body } = answer;
    if (status === 200 || status === 204) return body;
    const { errors = [] } = problems.safeParse(body).data ?? {};
    if (status === 400 && errors.some((text) => /cipher: message authentication failed/.test(text)))
      throw dataKeyNotAuthentic(tenant);
    const hint = status === 403 ? "; check its token, and the policy of the token" : "";
    const why = errors.length > 0 ? ` (${errors.join("; ").slice(0, 200)})` : "";
    const problem = `it answers with status ${status}${why} for the key of tenant ${tenant}`;
    throw keysUnavailable(`${problem}${hint}`);
  }

  #post(path: string, given: object, signal: AbortSignal): Promise<JsonAnswer> {
    return this.#send("POST", path, given, signal);
  }

  async #send(
    method: string,
    path: string,
    given: object | undefined,
    signal: AbortSignal,
  ): Promise<JsonAnswer> {
    const { url, mount, namespace, tokenFile } = this.#options;
    const headers = {
      "x-vault-token": await tokenOf(tokenFile),
      "x-vault-request": "true",
      "content-type": "application/json",
      ...(namespace !== undefined && { "x-vault-namespace": namespace }),
    };
    const body = given === undefined ? null : JSON.stringify(given);
    const address = `${url.replace(/\/$/, "")}/v1/${mount}/${path}`;
    try {
      return await fetchJson(address, { method, headers, body }, signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw keysUnavailable("Vault does not answer", cause);
    }
  }

  #nameOf(tenant: string): string {
    return this.#options.keyName.replaceAll("{tenant}", checkedTenant(tenant));
  }
}

/** Whether the transit engine itself says that it has no key with a name. Other parts of a network also answer with 404. */
function isMissing({ status, body }: JsonAnswer, name: string): boolean {
  const { errors = [] } = problems.safeParse(body).data ?? {};
  const isNamed = errors.some((text) => text.includes(`no existing key named ${name} `));
  return (status === 400 || status === 404) && isNamed;
}

function contextOf(tenant: string): string {
  return base64(Buffer.from(`reeve-data-key\0${tenant}`));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

async function tokenOf(path: string): Promise<string> {
  try {
    const token = (await readFile(path, "utf8")).trim();
    if (/^[\x21-\x7E]+$/.test(token)) {
      processRedaction.add(token);
      return token;
    }
  } catch (cause) {
    throw keysUnavailable(`the token of Vault in ${path} cannot be read`, cause);
  }
  throw keysUnavailable(`${path} contains no token of Vault`);
}
