import { readFile } from "node:fs/promises";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Environment } from "@reeve/platform/config";
import { z } from "zod";
import { checkReferences, usesSecrets } from "../../secrets/secret-references.ts";
import { fillVariables, headerValues } from "../fill-variables.ts";
import { invalidConfig, readJsonConfig } from "@reeve/platform/process/json-config";
import { named } from "../named.ts";
import { permissionClass, toolPolicy } from "../tool-policy.ts";

const setting = "REEVE_PROVIDERS_CONFIG";

const tls = z.strictObject({
  /** PEM files: the authorities that may sign the certificate of the provider (default: those of the system), and the client certificate with its key. */
  ca: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  /** The name in the provider's certificate. Default: the host of `target`. */
  server_name: z.string().optional(),
});

/** Keys that end with -bin are reserved for binary values. */
const metadataKey = z.string().regex(/^[a-z0-9_.-]+(?<!-bin)$/);

const provider = z.strictObject({
  /** Address: `host:port`, or `dns:///host:port`. Calls are spread over all addresses of the name. */
  target: z.string().min(1),
  /** TLS settings. Absent: the connection is not encrypted. */
  tls: z.union([tls, z.literal(true).transform(() => ({}))]).optional(),
  /** Sent with each call. */
  metadata: z.record(metadataKey, z.string()).default({}),
  /** The tenant with whose secrets the tools are listed, for all tenants. */
  catalog_tenant: z.string().min(1).optional(),
  /** Time limit of one call. */
  time_limit_seconds: z.number().positive().max(86_400).default(300),
  /** Permission class of tools that specify none. */
  permission_class: permissionClass.default(PermissionClass.NETWORK),
  /** Policies for single tools, by the names that the provider gives them. */
  tools: z.record(z.string(), toolPolicy).default({}),
});

/** With the name `mcp`, tools would have the names of those of MCP servers. */
export const providersFileSchema = z.strictObject({ providers: named(provider, ["mcp"]) });

/** The contents of the TLS files. */
export interface ProviderTls {
  readonly ca: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
  readonly serverName: string | undefined;
}

/** The settings of one provider. */
export type ProviderConfig = Omit<z.infer<typeof provider>, "tls"> & {
  readonly tls: ProviderTls | undefined;
};

/**
 * Reads the tool providers of a toolhost, by name. Fills in variables of the environment in their metadata. Throws a Failure
 * that says what is wrong with the file, or with a file that it names.
 */
export async function readProviderConfig(
  path: string | undefined,
  environment: Environment,
): Promise<ReadonlyMap<string, ProviderConfig>> {
  if (path === undefined) return new Map();
  const { providers } = await readJsonConfig(setting, path, providersFileSchema);
  for (const [name, { metadata, catalog_tenant: tenant }] of Object.entries(providers)) {
    checkReferences(setting, metadata);
    if (usesSecrets(metadata) && tenant === undefined) {
      const problem = `the provider ${name} uses secrets, so it needs catalog_tenant`;
      throw invalidConfig(
        setting,
        `${problem}: the tenant with whose secrets its tools are listed`,
      );
    }
  }
  const read = Object.entries(providers).map(
    async ([name, given]): Promise<[string, ProviderConfig]> => [
      name,
      {
        ...given,
        metadata: headerValues(setting, fillVariables(setting, given.metadata, environment)),
        tls: given.tls && (await readTls(name, given.tls)),
      },
    ],
  );
  return new Map(await Promise.all(read));
}

/** Returns the settings of a provider that come from code instead of a file, with defaults for missing ones. */
export function providerConfig(
  settings: Omit<z.input<typeof provider>, "tls"> & { readonly tls?: ProviderTls },
): ProviderConfig {
  const { tls: secured, ...rest } = settings;
  const parsed = provider.parse(rest);
  return { ...parsed, metadata: headerValues(setting, parsed.metadata), tls: secured };
}

async function readTls(name: string, files: z.infer<typeof tls>): Promise<ProviderTls> {
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw invalidConfig(setting, `provider ${name}: tls.cert and tls.key must be set together`);
  }
  const [ca = null, cert = null, key = null] = await Promise.all(
    [files.ca, files.cert, files.key].map(async (path) => path && (await pem(name, path))),
  ).then((contents) => contents.map((content) => content || null));
  return { ca, cert, key, serverName: files.server_name };
}

async function pem(name: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw invalidConfig(setting, `provider ${name}: ${path} cannot be read`, cause);
  }
}
