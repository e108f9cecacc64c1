import type { JsonObject } from "@bufbuild/protobuf";
import type { EventInit } from "../state/fact.ts";

/** The result of a runtime tool, and the events that change the run before it. */
export interface RuntimeToolResult {
  readonly content: string;
  readonly isError: boolean;
  readonly changes: readonly EventInit[];
}

export function successResult(
  content: string,
  ...changes: readonly EventInit[]
): RuntimeToolResult {
  return { content, isError: false, changes };
}

export function errorResult(content: string): RuntimeToolResult {
  return { content, isError: true, changes: [] };
}

export function textArgument(args: JsonObject, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}

export function numberArgument(args: JsonObject, name: string): number | undefined {
  const value = args[name];
  return typeof value === "number" ? value : undefined;
}
