import type { Interceptor } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { relay } from "../async/relay.ts";
import { connectErrorOf } from "./connect-failure.ts";
import { fitsAnswerTo } from "./error-size.ts";
import { Failure } from "../failure.ts";
import { serverDraining } from "./server-draining.ts";
import type { Logger } from "../telemetry/logger.ts";

/**
 * Maps every error of a handler to a status. A Failure becomes its status with details, and an error of the protocol stays
 * as it is. Anything else becomes INTERNAL without the original message, and is logged here and nowhere else. Once
 * `draining` aborts, all errors except Failures become UNAVAILABLE.
 */
export function mapErrors(log: Logger, draining: AbortSignal): Interceptor {
  return (next) => async (request) => {
    const method = `${request.service.typeName}/${request.method.name}`;
    const mapped = (error: unknown) => statusOf(error, { log, method, request, draining });
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: relay(response.message, { mapError: mapped }) };
    } catch (error) {
      throw mapped(error);
    }
  };
}

interface Context {
  readonly log: Logger;
  readonly method: string;
  readonly request: { readonly signal: AbortSignal; readonly header: Headers };
  readonly draining: AbortSignal;
}

function statusOf(error: unknown, context: Context): ConnectError {
  const failure = failureOf(error, context);
  return failure instanceof Failure
    ? connectErrorOf(failure, fitsAnswerTo(context.request.header))
    : failure;
}

/** The error of the client: a Failure, or an error of the protocol without a reason of Reeve. */
function failureOf(
  error: unknown,
  { log, method, request, draining }: Context,
): Failure | ConnectError {
  if (error instanceof Failure) return error;
  if (draining.aborted) return serverDraining();
  if (error instanceof ConnectError && error.code !== Code.Unknown) return withReason(error);
  if (request.signal.aborted) {
    return new ConnectError("the client closed the connection", Code.Canceled);
  }
  log.error({ err: error, method }, "request failed with an internal error");
  return new Failure(
    "internal",
    ErrorReason.INTERNAL,
    `${method} caused an internal error; see the log of the server for details`,
  );
}

/** Adds a reason to an error of the protocol, so that clients can switch on it. */
function withReason(error: ConnectError): Failure | ConnectError {
  if (error.details.length > 0) return error;
  switch (error.code) {
    case Code.ResourceExhausted:
      return new Failure("exhausted", ErrorReason.TOO_LARGE, error.rawMessage, { cause: error });
    case Code.InvalidArgument:
      return new Failure("invalid", ErrorReason.INVALID_REQUEST, error.rawMessage, {
        cause: error,
      });
    default:
      return error;
  }
}
