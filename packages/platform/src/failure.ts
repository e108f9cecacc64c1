import type { ErrorReason } from "@reeve/contracts/error";

/** What a caller can do about a failure. This union is closed: one exhaustive table maps it to status codes. */
export type FailureKind =
  | "invalid"
  | "unsupported"
  | "not_found"
  | "exists"
  | "conflict"
  | "precondition"
  | "out_of_range"
  | "unauthenticated"
  | "denied"
  | "exhausted"
  | "unavailable"
  | "data_loss"
  | "internal";

/** A field of a request that breaks a rule. */
export interface Violation {
  /** The path of the field, such as `spec.hitl_tools[1]`. */
  readonly field: string;
  /** What is wrong and how to fix it. */
  readonly description: string;
  /** The constant of the rule, in UPPER_SNAKE_CASE. */
  readonly reason: string;
}

export interface FailureOptions extends ErrorOptions {
  readonly violations?: readonly Violation[];
  /** The ids of the objects in the message, for programs. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The delay before the caller retries the same request. Default: the caller decides. */
  readonly retryAfterMs?: number;
}

/**
 * The error class of Reeve. Its message starts in lower case and says what happened, to which object (with its id), and what
 * to do; its kind says what a caller can do; its reason is a constant that clients switch on.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly violations: readonly Violation[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterMs: number | undefined;
  readonly kind: FailureKind;
  readonly reason: ErrorReason;

  constructor(
    kind: FailureKind,
    reason: ErrorReason,
    message: string,
    { violations = [], metadata = {}, retryAfterMs, ...options }: FailureOptions = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.reason = reason;
    this.violations = violations;
    this.metadata = metadata;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether the same request may succeed later without changes. */
export function isRetryable(failure: Failure): boolean {
  return failure.kind === "unavailable" || failure.kind === "exhausted";
}
