import {
  A2AError,
  JsonRpcTransportError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { ErrorReason } from "@reeve/contracts/error";
import type { Failure } from "@reeve/platform/failure";
import { errorDomain, failureFrom } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";

/** The JSON-RPC code of refusals for which A2A has no code of its own. */
export const refusedCode = -32000;
const internalCode = -32603;

/** Returns an error of the API as the error of A2A that says the same, with the reason and the message of the API. */
export function a2aErrorOf(error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  const failure = failureFrom(error);
  const { message, kind } = failure;
  switch (kind) {
    case "not_found":
      return failure.reason === ErrorReason.RUN_NOT_FOUND
        ? new TaskNotFoundError({ message })
        : refused(failure, refusedCode);
    case "invalid":
    case "out_of_range":
      return new RequestMalformedError({ message, metadata: metadataOf(failure) });
    case "unsupported":
    case "precondition":
    case "exists":
    case "conflict":
      return new UnsupportedOperationError({ message, metadata: metadataOf(failure) });
    case "unauthenticated":
    case "denied":
    case "exhausted":
    case "unavailable":
      return refused(failure, refusedCode);
    case "data_loss":
    case "internal":
      return refused(failure, internalCode);
  }
}

function metadataOf({ reason, violations, metadata }: Failure): Record<string, string> {
  const [first] = violations;
  return {
    ...metadata,
    reason: reasonName(reason),
    ...(first && { field: first.field, description: first.description }),
  };
}

function refused(failure: Failure, code: number): A2AError {
  const info = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: reasonName(failure.reason),
    domain: errorDomain,
    metadata: { ...failure.metadata },
  };
  const error = { code, message: failure.message, data: [info] };
  return new JsonRpcTransportError({ jsonrpc: "2.0", id: null, error });
}
