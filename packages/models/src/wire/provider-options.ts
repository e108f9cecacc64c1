/** The connection to a provider. */
export interface ProviderOptions {
  readonly apiKey: string;
  /** Undefined: the public address of the provider. */
  readonly baseUrl?: string | undefined;
  /** How long a connection may be idle until the first byte of an answer. Default: 5 minutes. */
  readonly idleTimeoutMs?: number | undefined;
  /** How long a connection may be idle within an answer. Default: 5 minutes. */
  readonly streamIdleMs?: number | undefined;
}

export const defaultIdleTimeoutMs = 300_000;
/** A model that reasons without showing it may send nothing for minutes after its first event. */
export const defaultStreamIdleMs = 300_000;
