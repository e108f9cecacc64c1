/** How a provider is reached. */
export interface ProviderOptions {
  readonly apiKey: string;
  /** Undefined: the address of the provider itself. */
  readonly baseUrl?: string | undefined;
  /** How long its connection may be silent, before an answer begins or in its middle. Default 5 minutes. */
  readonly idleTimeoutMs?: number | undefined;
}

export const defaultIdleTimeoutMs = 300_000;
