import { readFile } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import type { Clock } from "@reeve/platform/async/clock";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { Failure } from "@reeve/platform/failure";
import { fetchJson } from "@reeve/platform/oidc/fetch-json";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { z } from "zod";
import type { SecretKey, SecretSource } from "./secret-source.ts";

/** How many entries of Vault are cached, each with all its fields. */
const maxCached = 1_000;

export interface VaultOptions {
  readonly url: string;
  /** The mount of the KV engine, version 2. */
  readonly mount: string;
  /** The path of the entry, and the field in it. `{tenant}` and `{name}` stand for those of the secret. */
  readonly path: string;
  readonly field: string;
  readonly tokenFile: string;
  /** The namespace of Vault Enterprise, HCP, or OpenBao. Undefined: none. */
  readonly namespace: string | undefined;
  /** How long a value is used before it is read again. */
  readonly cacheMs: number;
}

type Fields = Readonly<Record<string, unknown>>;

interface Cached {
  readonly fields: Promise<Fields>;
  readonly untilMs: number;
}

const answer = z.object({ data: z.object({ data: z.record(z.string(), z.unknown()).nullable() }) });

/**
 * The secrets in a KV engine (version 2) of Vault, OpenBao, or a compatible server. The token is read from its file for each
 * request, so another program can renew it. Requests for the same entry share one answer; one that fails is not cached.
 */
export class VaultSecrets implements SecretSource {
  readonly #options: VaultOptions;
  readonly #clock: Pick<Clock, "now">;
  readonly #cached = new Map<string, Cached>();

  constructor(options: VaultOptions, clock: Pick<Clock, "now">) {
    this.#options = options;
    this.#clock = clock;
  }

  async read(key: SecretKey, signal: AbortSignal): Promise<string | undefined> {
    const fields = await abortable(this.#entry(this.#pathOf(key)), signal);
    const name = filled(this.#options.field, key);
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value === undefined || typeof value === "string") return value;
    throw unavailable(`${this.placeOf(key)} is not a text`);
  }

  placeOf(key: SecretKey): string {
    const field = filled(this.#options.field, key);
    return `the field ${field} of ${this.#pathOf(key)} in the mount ${this.#options.mount} of Vault`;
  }

  #pathOf(key: SecretKey): string {
    return filled(this.#options.path, key);
  }

  async #entry(path: string): Promise<Fields> {
    const nowMs = this.#clock.now();
    const known = this.#cached.get(path);
    if (known !== undefined && nowMs < known.untilMs) return await known.fields;
    // It serves every call that waits, so the end of one call does not end it. It has its own time limit.
    const fields = this.#fetch(path, neverAborts);
    this.#cached.delete(path);
    this.#cached.set(path, { fields, untilMs: nowMs + this.#options.cacheMs });
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= maxCached) break;
      this.#cached.delete(oldest);
    }
    try {
      return await fields;
    } catch (error) {
      if (this.#cached.get(path)?.fields === fields) this.#cached.delete(path);
      throw error;
    }
  }

  async #fetch(path: string, signal: AbortSignal): Promise<Fields> {
    const { url, mount, namespace, tokenFile } = this.#options;
    const token = await tokenOf(tokenFile);
    const address = `${url.replace(/\/$/, "")}/v1/${mount}/data/${path}`;
    const headers = {
      "x-vault-token": token,
      "x-vault-request": "true",
      ...(namespace !== undefined && { "x-vault-namespace": namespace }),
    };
    const { status, body } = await fetchJson(address, { headers }, signal);
    // A deleted version answers with 404 as well, and with its metadata.
    if (status === 404) return {};
    if (status !== 200)
      throw unavailable(`Vault answers ${address} with status ${status}${hintFor(status)}`);
    const parsed = answer.safeParse(body);
    if (!parsed.success) {
      throw unavailable(
        `${address} is not an entry of a KV engine of version 2; check mount and path`,
      );
    }
    return parsed.data.data.data ?? {};
  }
}

async function tokenOf(path: string): Promise<string> {
  try {
    const token = (await readFile(path, "utf8")).trim();
    if (/^[\x21-\x7E]+$/.test(token)) {
      processRedaction.add(token);
      return token;
    }
  } catch (cause) {
    throw unavailable(`the token of Vault in ${path} cannot be read`, cause);
  }
  throw unavailable(`${path} contains no token of Vault`);
}

function hintFor(status: number): string {
  return status === 403
    ? "; its token is not valid, or its policy does not permit to read this"
    : "";
}

function filled(template: string, { tenant, name }: SecretKey): string {
  return template.replaceAll("{tenant}", tenant).replaceAll("{name}", name);
}

function unavailable(message: string, cause?: unknown): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
}
