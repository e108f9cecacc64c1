import {
  A2AError,
  JsonRpcTransportError,
  RequestMalformedError,
  TaskNotFoundError,
  toJsonRpcError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { ErrorReason } from "@reeve/contracts/error";
import type { Failure, FailureKind } from "@reeve/platform/failure";
import { errorDomain, failureFrom } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";

/** The JSON-RPC code of refusals for which A2A has no code of its own. */
const refusedCode = -32000;
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
        : new RefusedError(failure);
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
      return new RefusedError(failure);
    case "data_loss":
    case "internal":
      return new RefusedError(failure, internalCode);
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

const statuses: Partial<Record<FailureKind, number>> = {
  not_found: 404,
  invalid: 400,
  unsupported: 404,
  unauthenticated: 401,
  denied: 403,
  exhausted: 429,
  unavailable: 503,
};

/** A refusal for which A2A has no error of its own. It has the status, the headers, and the reason of the API. */
export class RefusedError extends JsonRpcTransportError {
  /** The HTTP status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The error in the body of the HTTP+JSON binding. */
  readonly restBody: object;
  /** The error of the API. */
  readonly failure: Failure;

  constructor(failure: Failure, code = refusedCode) {
    const { kind, reason, message, metadata, retryAfterMs = 0 } = failure;
    const info = {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: reasonName(reason),
      domain: errorDomain,
      metadata: { ...metadata },
    };
    super({ jsonrpc: "2.0", id: null, error: { code, message, data: [info] } });
    this.failure = failure;
    this.status = statuses[kind] ?? 500;
    const seconds = Math.ceil(retryAfterMs / 1_000);
    this.headers = {
      ...(this.status === 401 && { "www-authenticate": "Bearer" }),
      ...(seconds > 0 && { "retry-after": String(seconds) }),
    };
    const status = statusNames[this.status] ?? "INTERNAL";
    this.restBody = { error: { code: this.status, status, message, details: [info] } };
  }
}

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

/** Returns an error as the JSON-RPC binding has it. */
export function jsonRpcErrorOf(error: unknown): unknown {
  return error instanceof RefusedError ? error.errorResponse.error : toJsonRpcError(error);
}
