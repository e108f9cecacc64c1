import type { JsonObject } from "@bufbuild/protobuf";
import type { NodePort } from "./node-type.ts";
import { errorHandle } from "./node-type.ts";

/** Values of any type. */
export const anything: JsonObject = {};
export const text: JsonObject = { type: "string" };

/** Returns an input. Default: any value, optional, at most one edge. */
export function input(
  handle: string,
  description: string,
  { schema = anything, required = false, multiple = false }: Partial<NodePort> = {},
): NodePort {
  return { handle, description, schema, required, multiple };
}

/** Returns an output. Default: any value. */
export function output(
  handle: string,
  description: string,
  schema: JsonObject = anything,
): NodePort {
  return { handle, description, schema, required: false, multiple: false };
}

export const errorOutput = output(
  errorHandle,
  "Message of the error. Only with `on_error: continue`.",
  text,
);

export const onError: JsonObject = {
  enum: ["fail", "continue"],
  description: "What happens when the node fails. Default: fail, which ends the workflow.",
};

const constants: JsonObject = {
  type: "object",
  description: "Values of inputs that no edge provides, by handle.",
};

/** Returns the schema of the properties of a node that has inputs. */
export function propertiesSchema(
  properties: JsonObject = {},
  required: readonly string[] = [],
): JsonObject {
  return {
    type: "object",
    properties: { ...properties, inputs: constants },
    required: [...required],
    additionalProperties: false,
  };
}
