import type { JsonObject } from "@bufbuild/protobuf";
import type { EventInit } from "../state/fact.ts";

/** What a tool of the runtime itself comes to: what the model reads, and what changes in the run before it does. */
export interface OwnResult {
  readonly content: string;
  readonly isError: boolean;
  readonly changes: readonly EventInit[];
}

export function successResult(content: string, ...changes: readonly EventInit[]): OwnResult {
  return { content, isError: false, changes };
}

export function errorResult(content: string): OwnResult {
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
