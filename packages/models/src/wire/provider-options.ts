/** The connection to a provider. */
export interface ProviderOptions {
  /** Name of the provider. Default: that of its vendor. */
  readonly name?: string | undefined;
  readonly apiKey: string;
  /** Undefined: the public address of the provider. */
  readonly baseUrl?: string | undefined;
  /** How long a connection may be idle before an answer or within it. Default: 5 minutes. */
  readonly idleTimeoutMs?: number | undefined;
  /** Whether variables of the process that its vendor defines, such as OPENAI_ORG_ID, change no request. Default: false. */
  readonly ignoresEnvironment?: boolean | undefined;
}

/** A model that reasons without showing it may send nothing for minutes. */
export const defaultIdleTimeoutMs = 300_000;
