import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { SecretKey, SecretSource } from "./secret-source.ts";
import { maxSecretLength, secretName } from "./secret-source.ts";

/** The secrets of all tenants. A value is read when it is used, and from then on redacted in everything that leaves this process. */
export class Secrets {
  readonly #sources: readonly SecretSource[];
  readonly #redaction: Pick<Redaction, "add">;

  constructor(sources: readonly SecretSource[], redaction: Pick<Redaction, "add">) {
    this.#sources = sources;
    this.#redaction = redaction;
  }

  /** Whether there is any source of secrets. */
  get isConfigured(): boolean {
    return this.#sources.length > 0;
  }

  /**
   * Returns the value of the first source that has the secret. Throws a Failure that a model may read: it names the secret, the
   * tenant, and how to add it, and never contains a value.
   */
  async value(key: SecretKey, signal: AbortSignal): Promise<string> {
    const { tenant, name } = key;
    const what = `the secret ${name} of tenant ${tenant}`;
    if (!secretName.test(name) || !secretName.test(tenant)) {
      const rule = "names may have only letters, digits, and . _ -, and may not begin with a dot";
      throw missing(`${what} cannot exist: ${rule}`);
    }
    for (const source of this.#sources) {
      const value = await this.#read(source, key, signal);
      if (value === undefined) continue;
      if (value === "" || value.length > maxSecretLength) {
        const problem = value === "" ? "is empty" : `has more than ${maxSecretLength} characters`;
        throw missing(`${what} ${problem}; correct ${source.placeOf(key)}`);
      }
      this.#redaction.add(value);
      // Headers carry it without the white space around it.
      if (value.trim() !== value) this.#redaction.add(value.trim());
      return value;
    }
    const places = this.#sources.map((source) => source.placeOf(key)).join(", or ");
    const remedy = places === "" ? "the toolhost has no REEVE_SECRETS_CONFIG" : `add ${places}`;
    throw missing(`${what} does not exist; an operator of the toolhost can add it: ${remedy}`);
  }

  async #read(
    source: SecretSource,
    key: SecretKey,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    try {
      return await source.read(key, signal);
    } catch (cause) {
      signal.throwIfAborted();
      const problem = cause instanceof Failure ? cause.message : "its source broke";
      const message = `the secret ${key.name} of tenant ${key.tenant} cannot be read now: ${problem}`;
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
    }
  }
}

function missing(message: string): Failure {
  return new Failure("precondition", ErrorReason.INVALID_REQUEST, message);
}
