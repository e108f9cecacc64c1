import type { A2AError } from "@a2a-js/sdk/errors";
import { A2A_ERROR_DOMAIN } from "@a2a-js/sdk/errors";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@reeve/contracts/error-details";
import { Failure } from "@reeve/platform/failure";
import { connectErrorOf } from "@reeve/platform/rpc/connect-failure";
import { fitsAnswerTo } from "@reeve/platform/rpc/error-size";
import { a2aErrorOf, RefusedError } from "../a2a-error.ts";

/** The codes of the gRPC binding by the reason of an error. Others are refused as a precondition. */
const codes: Readonly<Record<string, Code>> = {
  TASK_NOT_FOUND: Code.NotFound,
  CONTENT_TYPE_NOT_SUPPORTED: Code.InvalidArgument,
  INVALID_PARAMS: Code.InvalidArgument,
  INVALID_AGENT_RESPONSE: Code.Internal,
  INTERNAL_ERROR: Code.Internal,
};
const maxMessage = 2_000;
const maxValue = 512;

/** Returns an error of the API, or of A2A, as the status of the gRPC binding. */
export function grpcErrorOf(error: unknown, header: Headers): ConnectError {
  const known = a2aErrorOf(error);
  return known instanceof RefusedError
    ? connectErrorOf(withoutInternals(known.failure), fitsAnswerTo(header))
    : statusOf(known);
}

/** The errors of the API are for its clients already; what else failed is not. */
function withoutInternals(failure: Failure): Failure {
  const { kind, reason, cause } = failure;
  const isOurs = kind === "internal" && !(cause instanceof ConnectError);
  return isOurs ? new Failure(kind, reason, "internal error", { cause }) : failure;
}

function statusOf({ message, reason, metadata = {} }: A2AError): ConnectError {
  const code = codes[reason] ?? Code.FailedPrecondition;
  const status = new ConnectError(message.slice(0, maxMessage), code);
  const entries = Object.entries(metadata).map(([key, value]) => [key, value.slice(0, maxValue)]);
  status.details.push({
    desc: ErrorInfoSchema,
    value: { reason, domain: A2A_ERROR_DOMAIN, metadata: Object.fromEntries(entries) },
  });
  return status;
}
