import { AsyncLocalStorage } from "node:async_hooks";
import type { DescMethod, JsonObject, JsonReadOptions } from "@bufbuild/protobuf";
import type { Violation } from "../failure.ts";
import { readShape } from "./read-shape.ts";

interface Request {
  readonly method: DescMethod;
  readonly violations: Violation[];
}

const requests = new AsyncLocalStorage<Request>();

/** Handles a request of a method. Its JSON, if it is JSON, is read by `strictJson`. */
export function readingStrictly<Result>(method: DescMethod, handle: () => Result): Result {
  return requests.run({ method, violations: [] }, handle);
}

/** Returns what the JSON of the current request has that its contract does not allow. Its message does not contain these. */
export function shapeViolations(): readonly Violation[] {
  return requests.getStore()?.violations ?? [];
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
      const json = parsed(text);
      if (json === undefined) return text;
      const shape = readShape(request.method.input, json);
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

/** Returns the object of a text. Undefined: it is not JSON, or not an object, as the reader of the protocol reports. */
function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? // JSON.parse gives only JSON.
        (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
