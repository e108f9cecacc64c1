import type { JsonObject } from "@bufbuild/protobuf";

/** Reads arguments that their schema has already checked. */
export function stringArgument(args: JsonObject, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}

export function numberArgument(args: JsonObject, name: string): number | undefined {
  const value = args[name];
  return typeof value === "number" ? value : undefined;
}

export function stringsArgument(args: JsonObject, name: string): readonly string[] {
  const value = args[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** A time limit that a call may shorten and not extend, in milliseconds. */
export function timeoutMsOf(args: JsonObject, limitMs: number): number {
  const seconds = numberArgument(args, "timeout");
  return seconds === undefined ? limitMs : Math.min(Math.max(seconds * 1000, 1), limitMs);
}
