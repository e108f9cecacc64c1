import { readFile } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";

const server = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Beside these a server gets no more of our environment than PATH, HOME and the like. */
  env: z.record(z.string(), z.string()).default({}),
});

const config = z.strictObject({
  servers: z.record(z.string().regex(/^[A-Za-z0-9-]{1,32}$/), server),
});

/** How one MCP server is started. */
export type McpServerConfig = z.infer<typeof server>;

/** Reads the MCP servers of a toolhost, by name. Throws a Failure that says what is wrong with the file. */
export async function readMcpConfig(
  path: string | undefined,
): Promise<ReadonlyMap<string, McpServerConfig>> {
  if (path === undefined) return new Map();
  const parsed = config.safeParse(parseJson(path, await textOf(path)));
  if (parsed.success) return new Map(Object.entries(parsed.data.servers));
  throw invalid(path, z.prettifyError(parsed.error));
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw invalid(path, "cannot be read", cause);
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(path, "is no JSON", cause);
  }
}

function invalid(path: string, problem: string, cause?: unknown): Failure {
  return new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    `REEVE_MCP_CONFIG: ${path} ${problem}`,
    { cause },
  );
}
