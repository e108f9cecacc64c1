import { AsyncLocalStorage } from "node:async_hooks";
import type { DescMethod, JsonObject, JsonReadOptions } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "../failure.ts";
import { Failure } from "../failure.ts";
import { connectErrorOf } from "../rpc/connect-failure.ts";
import { readShape } from "./read-shape.ts";

interface Request {
  readonly method: DescMethod;
  readonly violations: Violation[];
  readonly ignored: string[];
}

const requests = new AsyncLocalStorage<Request>();

/** Handles a request of a method. Its JSON, if it is JSON, is read by `strictJson`. */
export function readingStrictly<Result>(method: DescMethod, handle: () => Result): Result {
  return requests.run({ method, violations: [], ignored: [] }, handle);
}

/** Returns what the JSON of the current request has that its contract does not allow. Its message does not contain these. */
export function shapeViolations(): readonly Violation[] {
  return requests.getStore()?.violations ?? [];
}

/** Returns the fields in the JSON of the current request of which its contract says that they are ignored. */
export function ignoredFields(): readonly string[] {
  return requests.getStore()?.ignored ?? [];
}

/**
 * Options with which a server reads JSON. The reader of the protocol ignores unknown fields, and reports only the first value of
 * the wrong type. This one removes both from the JSON and keeps a violation for each, for the validation of the request.
 */
export const strictJson: Partial<JsonReadOptions> & {
  readonly textDecoder: { decode(bytes?: Uint8Array): string };
} = {
  textDecoder: {
    decode(bytes) {
      const text = new TextDecoder().decode(bytes);
      const request = requests.getStore();
      if (request === undefined || !isOfReeve(request.method)) return text;
      const shape = readShape(request.method.input, parsed(text));
      request.ignored.push(...shape.ignored);
      if (shape.violations.length === 0) return text;
      request.violations.push(...shape.violations);
      return JSON.stringify(shape.json);
    },
  },
};

/** The contracts of health checks and reflection belong to gRPC, whose clients may be newer. */
function isOfReeve({ parent }: DescMethod): boolean {
  return parent.typeName.startsWith("reeve.");
}

/** Returns the object of a text. The protocol passes on the error that it throws for any other text. */
function parsed(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed("is not a JSON object");
  }
  // JSON.parse gives only JSON.
  return value as JsonObject;
}

function malformed(problem: string): ConnectError {
  const message = `the body of the request ${problem}; send an object with the fields of the request`;
  return connectErrorOf(new Failure("invalid", ErrorReason.INVALID_REQUEST, message));
}
