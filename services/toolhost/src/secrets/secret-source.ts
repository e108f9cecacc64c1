/** A named secret of a tenant. */
export interface SecretKey {
  readonly tenant: string;
  readonly name: string;
}

/** A place that has secrets. */
export interface SecretSource {
  /** Returns the value of a secret, or undefined if this place has none. Throws a Failure if it does not answer. */
  read(key: SecretKey, signal: AbortSignal): Promise<string | undefined>;
  /** Where a person adds the secret, such as `the file /etc/reeve/secrets/acme/tracker`. */
  placeOf(key: SecretKey): string;
}

/** The longest value of a secret, in characters. */
export const maxSecretLength = 65_536;

/** The name of a secret or of a tenant with secrets. It is part of paths. */
export const secretName = /^(?!\.)[A-Za-z0-9._-]{1,128}$/;
