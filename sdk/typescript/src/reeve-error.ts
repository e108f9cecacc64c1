import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#contracts/error-details";

/** A field of a request that breaks a rule of the API. */
export interface Violation {
  /** Path of the field: `spec.hitl_tools[1]`. */
  readonly field: string;
  /** What is wrong and how to correct it. */
  readonly description: string;
  /** Name of the rule, in UPPER_SNAKE_CASE. Empty when the server gave none. */
  readonly reason: string;
}

/** The error of every request. Switch on `reason`, or on `code` where the reason is empty; never on the message. */
export class ReeveError extends Error {
  override readonly name = "ReeveError";
  /** The gRPC status code. */
  readonly code: Code;
  /**
   * A value of `reeve.error.v1.ErrorReason` without its prefix, for example `RUN_NOT_FOUND`; `CONNECTION_LOST` if no server
   * could be reached in time; `CLIENT_CLOSED` after the client was closed; empty if the response is not from a Reeve server.
   */
  readonly reason: string;
  readonly violations: readonly Violation[];
  /** The ids that the message names. */
  readonly metadata: Readonly<Record<string, string>>;
  /** How long to wait before the next attempt. Undefined if the server did not say. */
  readonly retryAfterMs: number | undefined;

  private constructor(status: ConnectError, reason?: string) {
    super(status.rawMessage, { cause: status });
    const [info] = status.findDetails(ErrorInfoSchema);
    const [request] = status.findDetails(BadRequestSchema);
    const [retry] = status.findDetails(RetryInfoSchema);
    const isLost = info === undefined && lostCodes.has(status.code);
    this.code = isLost ? Code.Unavailable : status.code;
    this.reason = reason ?? (isLost ? "CONNECTION_LOST" : (info?.reason ?? ""));
    this.violations = (request?.fieldViolations ?? []).map(({ field, description, reason }) => ({
      field,
      description,
      reason,
    }));
    this.metadata = info?.metadata ?? {};
    this.retryAfterMs = retry?.retryDelay && durationMs(retry.retryDelay);
  }

  /** Returns the ReeveError for an error that a request threw. */
  static from(error: unknown): ReeveError {
    return error instanceof ReeveError ? error : new ReeveError(ConnectError.from(error));
  }

  /** Returns the error of a connection that counts as lost although the network reported nothing. */
  static lost(message: string): ReeveError {
    return ReeveError.from(new ConnectError(message, Code.Unavailable));
  }

  /** Returns the error of a request of a client that was closed. */
  static closed(): ReeveError {
    const status = new ConnectError("the client is closed", Code.FailedPrecondition);
    return new ReeveError(status, "CLIENT_CLOSED");
  }

  /** Whether the same request may succeed later, or through another server. */
  get isTransient(): boolean {
    return this.code === Code.Unavailable;
  }
}

/** Codes that the transport reports for a broken connection. A response of a Reeve server always has details. */
const lostCodes: ReadonlySet<Code> = new Set([
  Code.Aborted,
  Code.Canceled,
  Code.DeadlineExceeded,
  Code.Internal,
  Code.Unavailable,
  Code.Unknown,
]);
