import { readFileSync } from "node:fs";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";

const server = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
});

const file = z.strictObject({
  servers: z.record(z.string().regex(/^[a-zA-Z0-9-]{1,32}$/), server),
});

/** How a server is started: a program that speaks MCP over its standard input and output. */
export type McpServerConfig = z.infer<typeof server>;

/** Reads the file that names the MCP servers. Throws a Failure with everything that is wrong with it. */
export function readMcpConfig(path: string): Readonly<Record<string, McpServerConfig>> {
  const refuse = (why: string, cause?: unknown) =>
    new Failure("invalid", ErrorReason.INVALID_REQUEST, `REEVE_MCP_CONFIG: ${path} ${why}`, {
      cause,
    });
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw refuse(`cannot be read as JSON: ${error instanceof Error ? error.message : ""}`, error);
  }
  const parsed = file.safeParse(json);
  if (parsed.success) return parsed.data.servers;
  const list = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw refuse(`is not valid: ${list.join("; ")}`);
}
