import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "./gen/google/rpc/error_details_pb.ts";

/** A field of a request that breaks the contract. */
export interface Violation {
  /** Path of the field. */
  readonly field: string;
  readonly description: string;
}

/** Why something did not succeed. Switch on `reason`, or on `code` where it is empty; never on the message. */
export class ReeveError extends Error {
  override readonly name = "ReeveError";
  /** The gRPC status code. */
  readonly code: Code;
  /**
   * A name of `reeve.error.v1.ErrorReason` without its prefix, as `RUN_NOT_FOUND`; `CONNECTION_LOST` when no server could be
   * reached in time; empty when what answered is no Reeve.
   */
  readonly reason: string;
  readonly violations: readonly Violation[];
  readonly metadata: Readonly<Record<string, string>>;
  /** How long to wait before another attempt, when the server says so. */
  readonly retryAfterMs: number | undefined;

  private constructor(status: ConnectError) {
    super(status.rawMessage, { cause: status });
    const [info] = status.findDetails(ErrorInfoSchema);
    const [request] = status.findDetails(BadRequestSchema);
    const [retry] = status.findDetails(RetryInfoSchema);
    const isLost = info === undefined && lost.has(status.code);
    this.code = isLost ? Code.Unavailable : status.code;
    this.reason = isLost ? "CONNECTION_LOST" : (info?.reason ?? "");
    this.violations = (request?.fieldViolations ?? []).map(({ field, description }) => ({
      field,
      description,
    }));
    this.metadata = info?.metadata ?? {};
    this.retryAfterMs = retry?.retryDelay && durationMs(retry.retryDelay);
  }

  /** What a server, or the way to it, gave. */
  static from(error: unknown): ReeveError {
    return error instanceof ReeveError ? error : new ReeveError(ConnectError.from(error));
  }

  /** A connection that is lost although nothing said so. */
  static lost(message: string): ReeveError {
    return ReeveError.from(new ConnectError(message, Code.Unavailable));
  }

  /** Whether the same may succeed at another time, or by another way. */
  get isTransient(): boolean {
    return this.code === Code.Unavailable;
  }
}

/** What a connection that broke is called. An answer of the server has details and is none of these. */
const lost: ReadonlySet<Code> = new Set([
  Code.Aborted,
  Code.Canceled,
  Code.DeadlineExceeded,
  Code.Internal,
  Code.Unavailable,
  Code.Unknown,
]);
