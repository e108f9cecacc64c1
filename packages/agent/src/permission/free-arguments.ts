import type { JsonObject } from "@bufbuild/protobuf";

/** The arguments of a tool that a call leaves out, so that its exact rule does not restrict them. */
export interface FreeArguments {
  readonly names: readonly string[];
  /** Whether the tool may take arguments that its schema does not name. */
  readonly hasOthers: boolean;
}

/** Returns the arguments that a call leaves out, by the schema of its tool. Without a schema, any argument may be one. */
export function freeArguments(
  inputSchema: JsonObject | undefined,
  args: JsonObject,
): FreeArguments {
  const properties = inputSchema?.["properties"];
  const named =
    typeof properties === "object" && properties !== null && !Array.isArray(properties)
      ? Object.keys(properties)
      : [];
  const isClosed =
    inputSchema?.["additionalProperties"] === false && !("patternProperties" in inputSchema);
  return { names: named.filter((name) => !Object.hasOwn(args, name)), hasOthers: !isClosed };
}
