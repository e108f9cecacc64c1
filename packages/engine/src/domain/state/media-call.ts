/** The latest attempt to generate the media of a call. */
export interface MediaCall {
  /** Starts at 1. After the loss of one that waited for memory: how many were requested before it. */
  readonly attempt: number;
  /** `lost`: its owner was lost, and nobody knows whether the provider generated anything. */
  readonly status: "in_progress" | "lost" | "ended";
  /** Maximum cost in US dollars while it is in progress; 0: nothing is reserved. */
  readonly reservedUsd: number;
  /** Whether it waits for memory of its worker: nothing was requested. Default: false. */
  readonly isWaiting?: true;
}
