import type { JsonObject } from "@bufbuild/protobuf";
import { isSchema } from "../../schema/local-reference.ts";
import type { NodePort, NodeType } from "../node-type.ts";

/** Returns what a model has to know about a type of nodes, as JSON. */
export function nodeTypeSummary({
  id,
  description,
  inputs,
  outputs,
  takesOtherInputs,
  propertiesSchema,
}: NodeType): JsonObject {
  const { properties, required } = propertiesSchema;
  return {
    id,
    description,
    inputs: inputs.map(portSummary),
    outputs: outputs.map(portSummary),
    ...(takesOtherInputs && { takes_other_inputs: true }),
    properties: isSchema(properties) ? properties : {},
    ...(required !== undefined && { required_properties: required }),
  };
}

function portSummary({ handle, description, schema, required, multiple }: NodePort): JsonObject {
  return {
    handle,
    ...(description !== "" && { description }),
    ...(Object.keys(schema).length > 0 && { schema }),
    ...(required && { required }),
    ...(multiple && { multiple }),
  };
}

/** Returns a type in one line: its id, its inputs with `*` after those that it requires, and the start of its description. */
export function nodeTypeLine({ id, inputs, description }: NodeType): string {
  const names = inputs.map(({ handle, required }) => `${handle}${required ? "*" : ""}`);
  const about = (description.split("\n", 1)[0] ?? "").slice(0, maxAbout);
  return `- ${id}(${names.join(", ")}): ${about}`;
}

const maxAbout = 160;
