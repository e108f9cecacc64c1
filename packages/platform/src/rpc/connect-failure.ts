import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorReason, ErrorReasonSchema } from "@reeve/contracts/error";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "@reeve/contracts/error-details";
import type { FailureKind } from "../failure.ts";
import { Failure } from "../failure.ts";
import { reportedViolations, shortened } from "../list-violations.ts";
import { reasonName, reasonPrefix } from "../reason-name.ts";
import { fitsBody } from "./error-size.ts";

/** The maximum length of a message, and of a value of the metadata. */
const maxMessage = 4 * 1024;
const maxMetadata = 512;
/** The part of the maximum lengths that an error keeps however large its texts are. */
const smallestPart = 1 / 64;
/** How much smaller each attempt to fit an error is: small steps waste less of the room. */
const stepToFit = 0.75;

/** The domain of Reeve's reasons in `google.rpc.ErrorInfo`. */
export const errorDomain = "reeve.dev";

const codes = {
  invalid: Code.InvalidArgument,
  unsupported: Code.Unimplemented,
  not_found: Code.NotFound,
  exists: Code.AlreadyExists,
  conflict: Code.Aborted,
  precondition: Code.FailedPrecondition,
  out_of_range: Code.OutOfRange,
  unauthenticated: Code.Unauthenticated,
  denied: Code.PermissionDenied,
  exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  data_loss: Code.DataLoss,
  internal: Code.Internal,
} satisfies Record<FailureKind, Code>;

/**
 * Converts a Failure into the status that a client receives: the code, ErrorInfo, BadRequest if it has violations, and
 * RetryInfo if it has a delay. It has fewer violations and shorter texts than the Failure if it would not fit otherwise.
 */
export function connectErrorOf(
  failure: Failure,
  fits: (error: ConnectError) => boolean = fitsBody,
): ConnectError {
  let part = 1;
  let error = errorWith(failure, part);
  while (part > smallestPart && !fits(error)) {
    part *= stepToFit;
    error = errorWith(failure, part);
  }
  return error;
}

/** Builds the status of a Failure with a part of the maximum number of violations and of the maximum lengths. */
function errorWith(failure: Failure, part: number): ConnectError {
  const error = new ConnectError(
    shortened(failure.message, maxMessage * part),
    codes[failure.kind],
  );
  error.details.push({
    desc: ErrorInfoSchema,
    value: {
      reason: reasonName(failure.reason),
      domain: errorDomain,
      metadata: Object.fromEntries(
        Object.entries(failure.metadata).map(([key, value]) => [
          key,
          shortened(value, maxMetadata * part),
        ]),
      ),
    },
  });
  const violations = reportedViolations(failure.violations, part);
  if (violations.length > 0) {
    const fieldViolations = violations.map((each) => ({ ...each }));
    error.details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  }
  if (failure.retryAfterMs !== undefined) {
    const retryDelay = durationFromMs(Math.round(failure.retryAfterMs));
    error.details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return error;
}

/**
 * Converts an error that a client received, from the server or from the network, into a Failure. An error without Reeve's
 * details gets the kind of its code, and a lost connection is `unavailable`; anything that is not a status is `internal`.
 */
export function failureFrom(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const status = ConnectError.from(error);
  const [info] = status.findDetails(ErrorInfoSchema);
  const [badRequest] = status.findDetails(BadRequestSchema);
  const [retry] = status.findDetails(RetryInfoSchema);
  const isLost =
    hasBrokenConnection(status) || (info === undefined && connectionLostCodes.has(status.code));
  const kind = isLost ? "unavailable" : kindOf(status.code);
  return new Failure(kind, reasonOf(info?.reason, kind), status.rawMessage, {
    violations: badRequest?.fieldViolations ?? [],
    metadata: info?.metadata ?? {},
    ...(retry?.retryDelay && { retryAfterMs: durationMs(retry.retryDelay) }),
    cause: error,
  });
}

/** The codes of a lost connection or an expired deadline. Reeve's own conflicts use one of them too, but carry details. */
const connectionLostCodes: ReadonlySet<Code> = new Set([
  Code.Aborted,
  Code.Canceled,
  Code.DeadlineExceeded,
]);
/** Node's error codes for a broken connection, and for a request on a connection that is closing. */
const brokenConnection: ReadonlySet<unknown> = new Set([
  "ECONNRESET",
  "EPIPE",
  "ERR_HTTP2_GOAWAY_SESSION",
  "ERR_HTTP2_INVALID_SESSION",
  "ERR_HTTP2_SESSION_ERROR",
  "ERR_HTTP2_STREAM_CANCEL",
  "ERR_HTTP2_STREAM_ERROR",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/** Whether the connection broke before the server answered; the client library then generates the status. */
function hasBrokenConnection({ cause, details }: ConnectError): boolean {
  if (details.length > 0) return false;
  for (let each = cause; each instanceof Error; each = each.cause) {
    if ("code" in each && brokenConnection.has(each.code)) return true;
  }
  return false;
}

function kindOf(code: Code): FailureKind {
  const found = Object.entries(codes).find(([, candidate]) => candidate === code);
  // The keys of the table are the kinds.
  return (found?.[0] as FailureKind | undefined) ?? "internal";
}

function reasonOf(name: string | undefined, kind: FailureKind): ErrorReason {
  const known = ErrorReasonSchema.values.find((value) => value.name === `${reasonPrefix}${name}`);
  // The numbers of the enum's descriptor are its values.
  if (known !== undefined) return known.number as ErrorReason;
  return withoutDetails[kind] ?? ErrorReason.INTERNAL;
}

/** The reasons of statuses without Reeve's details, which come from the protocol or from a proxy. */
const withoutDetails: Partial<Record<FailureKind, ErrorReason>> = {
  invalid: ErrorReason.INVALID_REQUEST,
  unauthenticated: ErrorReason.UNAUTHENTICATED,
  denied: ErrorReason.PERMISSION_DENIED,
  exhausted: ErrorReason.TOO_LARGE,
  unavailable: ErrorReason.UNAVAILABLE,
};
