import { PermissionClass } from "@reeve/contracts/tool";
import type { Environment } from "@reeve/platform/config";
import { z } from "zod";
import { addressRange } from "../../network-settings.ts";
import { fillVariables, headerValues } from "../fill-variables.ts";
import { readJsonConfig } from "../json-config.ts";
import { named } from "../named.ts";
import { permissionClass, toolPolicy } from "../tool-policy.ts";

const setting = "REEVE_MCP_CONFIG";

const common = {
  /** The class of its tools, unless `tools` says otherwise. */
  permission_class: permissionClass.default(PermissionClass.NETWORK),
  /** What is to hold for single tools, by the names that the server gives them. */
  tools: z.record(z.string(), toolPolicy).default({}),
  /** Whether it may ask people. Calls of a server of the older protocol are then made one at a time. */
  elicitation: z.boolean().default(false),
};

/** Whoever starts a program would tell the value with the error. */
const withoutNull = z.string().refine((text) => !text.includes("\0"), "has a null character");

const stdio = z.strictObject({
  ...common,
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Beside these a server gets no more of our environment than PATH, HOME and the like; in a sandbox not even that. */
  env: z.record(z.string().regex(/^[^=\0]+$/), withoutNull).default({}),
  /** Whether it runs in a sandbox. */
  sandbox: z.boolean().default(true),
  /** Paths of the host that it sees in its sandbox, and those that it may write to. */
  read: z.array(z.string().startsWith("/")).default([]),
  write: z.array(z.string().startsWith("/")).default([]),
  /** Whether it has the network of the host in its sandbox. */
  network: z.boolean().default(false),
});

const http = z.strictObject({
  ...common,
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string()).default({}),
  /** Addresses to which it may resolve although they are of this host, of its links, or of a cloud's metadata. */
  allow_addresses: z.array(addressRange).default([]),
});

/** One with a URL is reached over HTTP; what is wrong with it is then told of that kind alone. */
const server = z.unknown().transform((given, context): McpServerConfig => {
  const isHttp = typeof given === "object" && given !== null && "url" in given;
  const parsed = (isHttp ? http : stdio).safeParse(given);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) {
    context.issues.push({ code: "custom", path, message, input: given });
  }
  return z.NEVER;
});

const config = z.strictObject({
  servers: named(server),
});

/** A server that is a program of this host. */
export type StdioServerConfig = z.infer<typeof stdio>;
/** A server that is reached over HTTP. */
export type HttpServerConfig = z.infer<typeof http>;
/** How one MCP server is reached. */
export type McpServerConfig = StdioServerConfig | HttpServerConfig;

/**
 * Reads the MCP servers of a toolhost, by name, with what their headers and their environment take from ours. Throws a
 * Failure that says what is wrong with the file.
 */
export async function readMcpConfig(
  path: string | undefined,
  environment: Environment,
): Promise<ReadonlyMap<string, McpServerConfig>> {
  if (path === undefined) return new Map();
  const { servers } = await readJsonConfig(setting, path, config);
  return new Map(Object.entries(servers).map(([name, server]) => [name, filled(server)]));

  function filled(server: McpServerConfig): McpServerConfig {
    return "url" in server
      ? withHeaders(server, fillVariables(setting, server.headers, environment))
      : { ...server, env: fillVariables(setting, server.env, environment) };
  }
}

/** The settings of a server by what is not left to the defaults; for tests and programs. */
export function mcpServerConfig(
  given: z.input<typeof stdio> | z.input<typeof http>,
): McpServerConfig {
  const parsed = server.parse(given);
  return "url" in parsed ? withHeaders(parsed, parsed.headers) : parsed;
}

function withHeaders(server: HttpServerConfig, headers: HttpServerConfig["headers"]) {
  return { ...server, headers: headerValues(setting, headers) };
}
