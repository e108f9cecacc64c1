/** The connection to a provider. */
export interface ProviderOptions {
  readonly apiKey: string;
  /** Undefined: the public address of the provider. */
  readonly baseUrl?: string | undefined;
  /** How long a connection may be idle before or during an answer. Default: 5 minutes. */
  readonly idleTimeoutMs?: number | undefined;
}

export const defaultIdleTimeoutMs = 300_000;
