import type { z } from "zod";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "./failure.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of a service. Throws one Failure that lists every missing or invalid variable. A variable that is set to
 * the empty string counts as not set.
 */
export function readConfig<Config>(schema: z.ZodType<Config>, environment: Environment): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const violations = parsed.error.issues.map((issue) => ({
    field: issue.path.join("."),
    description: descriptionOf(issue),
    reason: "INVALID_SETTING",
  }));
  const list = violations.map(({ field, description }) => `  ${field}: ${description}`).join("\n");
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    `settings are missing or invalid:\n${list}`,
    { violations },
  );
}

/** The library describes texts as it describes types of a program. */
function descriptionOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" && issue.input === undefined) return "is required";
  if (issue.code !== "too_small" || issue.origin !== "string") return issue.message;
  return `must have at least ${issue.minimum} characters`;
}

/** The address that a server listens on. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Parses `host:port`, `[::1]:port`, or `:port` (all addresses). Returns undefined for any other text. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(\[[0-9a-fA-F:]+\]|[^:]*):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) return undefined;
  const host = (match[1] ?? "").replace(/^\[|\]$/g, "");
  return { host: host === "" ? "0.0.0.0" : host, port };
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
