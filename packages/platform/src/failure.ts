import type { ErrorReason } from "@reeve/contracts/error";

/** What the caller may do about a failure. Closed: the one table that maps it to a status is exhaustive. */
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
  | "internal";

/** One field of a request that breaks a rule. */
export interface Violation {
  /** Path of the field: `spec.hitl_tools[1]`. */
  readonly field: string;
  /** What is wrong, and how it can be put right. */
  readonly description: string;
  /** A constant that names the rule, in UPPER_SNAKE_CASE. */
  readonly reason: string;
}

export interface FailureOptions extends ErrorOptions {
  readonly violations?: readonly Violation[];
  /** Ids of the things that the message names, for programs. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** How long to wait before the same request is made again. Absent: whoever asks knows best. */
  readonly retryAfterMs?: number;
}

/**
 * The one error of Reeve. Its message names the thing, its id and the way out, in lower case; its kind says what the
 * caller may do; its reason is the constant that a client switches on.
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

/** Whether the same request may succeed later without a change. */
export function isRetryable(failure: Failure): boolean {
  return failure.kind === "unavailable" || failure.kind === "exhausted";
}
