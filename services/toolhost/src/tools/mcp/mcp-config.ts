import { PermissionClass } from "@reeve/contracts/tool";
import type { Environment } from "@reeve/platform/config";
import { z } from "zod";
import { secureUrl } from "@reeve/platform/oidc/discovery";
import { addressRange } from "@reeve/sandbox/network/network-settings";
import { checkReferences } from "../../secrets/secret-references.ts";
import { fillVariables, headerValues } from "../fill-variables.ts";
import { invalidConfig, readJsonConfig } from "@reeve/platform/process/json-config";
import { named } from "../named.ts";
import { permissionClass, toolPolicy } from "../tool-policy.ts";
import { secretTextsOf, usesTenantSecrets } from "./tenant-settings.ts";

const setting = "REEVE_MCP_CONFIG";

const common = {
  /** The class of its tools, unless `tools` says otherwise. */
  permission_class: permissionClass.default(PermissionClass.NETWORK),
  /** Policies for single tools, by the names that the server gives them. */
  tools: z.record(z.string(), toolPolicy).default({}),
  /** Whether it may ask people. Calls of a server of the older protocol then run one at a time. */
  elicitation: z.boolean().default(false),
  /** Whether each tenant has its own connection. A server that uses secrets of tenants always has. */
  per_tenant: z.boolean().default(false),
  /** How many connections of tenants are open at most, and how long an unused one stays open. */
  max_tenants: z.number().int().min(1).max(1_000).default(16),
  idle_seconds: z.number().min(1).max(86_400).default(300),
  /** The tenant with whose secrets the tools are listed, for all tenants. */
  catalog_tenant: z.string().min(1).optional(),
};

/** Starting a program with such a value fails with an error that contains the value. */
const withoutNull = z.string().refine((text) => !text.includes("\0"), "contains a null character");

const stdio = z.strictObject({
  ...common,
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Without a sandbox, a server also gets PATH, HOME, and the like from the environment of the toolhost. */
  env: z.record(z.string().regex(/^[^=\0]+$/), withoutNull).default({}),
  /** Whether it runs in a sandbox. */
  sandbox: z.boolean().default(true),
  /** Paths of the host that it sees in its sandbox, and those that it may write to. */
  read: z.array(z.string().startsWith("/")).default([]),
  write: z.array(z.string().startsWith("/")).default([]),
  /** Whether it has the network of the host in its sandbox. */
  network: z.boolean().default(false),
  /** How it receives who calls. */
  principal: z.enum(["none", "meta"]).default("none"),
});

/** A client that is registered at the authorization server of an MCP server. */
const oauth = z
  .strictObject({
    /** The authorization server. No other one gets the credentials. */
    issuer: secureUrl,
    client_id: z.string().min(1),
    client_secret: z.string().min(1).optional(),
    /** A token that a person has granted. Absent: the client requests tokens for itself. */
    refresh_token: z.string().min(1).optional(),
    scope: z.string().min(1).optional(),
  })
  .refine(
    (client) => client.client_secret !== undefined || client.refresh_token !== undefined,
    "needs client_secret, refresh_token, or both",
  );

const http = z.strictObject({
  ...common,
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string()).default({}),
  /** How it gets access tokens of OAuth 2.1. Absent: it sends only the headers. */
  oauth: oauth.optional(),
  /** Addresses to which it may resolve although they belong to this host, its links, or the metadata service of a cloud. */
  allow_addresses: z.array(addressRange).default([]),
  /** How it receives who calls. */
  principal: z.enum(["none", "meta", "headers"]).default("none"),
});

/** A server with a URL is reached over HTTP. Problems are reported for that kind of server only. */
const server = z.unknown().transform((value, context): McpServerConfig => {
  const isHttp = typeof value === "object" && value !== null && "url" in value;
  const parsed = (isHttp ? http : stdio).safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) {
    context.issues.push({ code: "custom", path, message, input: value });
  }
  return z.NEVER;
});

const config = z.strictObject({
  servers: named(server),
});

/** What a file of MCP servers may contain, for the editors of people. */
export const mcpFileSchema = z.strictObject({ servers: named(z.union([http, stdio])) });

/** A server that runs as a program on this host. */
export type StdioServerConfig = z.infer<typeof stdio>;
/** A server that is reached over HTTP. */
export type HttpServerConfig = z.infer<typeof http>;
/** How one MCP server is reached. */
export type McpServerConfig = StdioServerConfig | HttpServerConfig;

/**
 * Reads the MCP servers of a toolhost, by name. Fills in variables of the environment in their headers and environments. Throws
 * a Failure that says what is wrong with the file.
 */
export async function readMcpConfig(
  path: string | undefined,
  environment: Environment,
): Promise<ReadonlyMap<string, McpServerConfig>> {
  if (path === undefined) return new Map();
  const { servers } = await readJsonConfig(setting, path, config);
  return new Map(Object.entries(servers).map(([name, server]) => [name, filled(name, server)]));

  function filled(name: string, server: McpServerConfig): McpServerConfig {
    checkReferences(setting, secretTextsOf(server));
    if (usesTenantSecrets(server) && server.catalog_tenant === undefined) {
      const problem = `the server ${name} uses secrets, so it needs catalog_tenant`;
      throw invalidConfig(
        setting,
        `${problem}: the tenant with whose secrets its tools are listed`,
      );
    }
    return "url" in server
      ? withOAuth(
          name,
          withHeaders(server, fillVariables(setting, server.headers, environment)),
          environment,
        )
      : { ...server, env: fillVariables(setting, server.env, environment) };
  }
}

/** Returns the settings of an MCP server that come from code instead of a file, with defaults for missing ones. */
export function mcpServerConfig(
  settings: z.input<typeof stdio> | z.input<typeof http>,
): McpServerConfig {
  const parsed = server.parse(settings);
  return "url" in parsed ? withHeaders(parsed, parsed.headers) : parsed;
}

/** Fills in variables of the environment in the client of a server. */
function withOAuth(
  name: string,
  server: HttpServerConfig,
  environment: Environment,
): HttpServerConfig {
  const { oauth: client, headers } = server;
  if (client === undefined) return server;
  if (Object.keys(headers).some((header) => header.toLowerCase() === "authorization")) {
    throw invalidConfig(setting, `the server ${name} has both oauth and a header authorization`);
  }
  const { issuer, ...texts } = client;
  const filled = fillVariables(setting, texts as Readonly<Record<string, string>>, environment);
  return { ...server, oauth: { ...client, ...filled, issuer } };
}

function withHeaders(server: HttpServerConfig, headers: HttpServerConfig["headers"]) {
  return { ...server, headers: headerValues(setting, headers) };
}
