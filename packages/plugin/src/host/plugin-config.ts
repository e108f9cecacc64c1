import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { builtinPlugins } from "@reeve/agent/plugins/builtin-plugins";
import type { Environment } from "@reeve/platform/config";
import { invalidConfig } from "@reeve/platform/process/json-config";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { parse } from "yaml";
import { z } from "zod";

const setting = "REEVE_PLUGINS";

const failures = z.enum(["stop", "continue"]).default("stop");

const tlsFiles = z.strictObject({
  /** PEM files: the authorities that may sign the certificate of the server (default: those of the system), and the client certificate with its key. */
  ca: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  /** The name in the certificate of the server. Default: the host of `target`. */
  server_name: z.string().optional(),
});

const packaged = z.strictObject({
  /** A module: a path relative to the file, or the name of a package that is installed beside it. */
  package: z.string().min(1),
  /** What happens to a run when a hook fails. Failed hooks of the tool gate refuse their call either way. */
  on_failure: failures,
});

const remote = z.strictObject({
  /** Address: `host:port`, or `dns:///host:port`. Requests are spread over all addresses of the name. */
  target: z.string().min(1),
  /** TLS settings. Absent: the connection is not encrypted. */
  tls: z.preprocess((given) => (given === true ? {} : given), tlsFiles.optional()).optional(),
  /** Sent with each request. `${NAME}` is a variable of the environment. */
  metadata: z.record(z.string().regex(/^[a-z0-9_.-]+(?<!-bin)$/), z.string()).default({}),
  on_failure: failures,
});

const validId = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** The settings of one kind, so that a mistake is reported by its own name. */
const plugin = z.looseObject({}).transform((given, context) => {
  const [isPackage, isRemote] = ["package" in given, "target" in given];
  if (isPackage === isRemote) {
    const message = isPackage
      ? "has both package and target; keep one of them"
      : "needs package, or target";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  }
  const parsed = isPackage ? packaged.safeParse(given) : remote.safeParse(given);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) {
    context.addIssue({ code: "custom", path, message });
  }
  return z.NEVER;
});

const plugins = z.record(z.string(), plugin).superRefine((given, context) => {
  for (const id of Object.keys(given)) {
    const isTaken = builtinPlugins.some((each) => each.id === id);
    if (validId.test(id) && !isTaken) continue;
    const message = isTaken
      ? `"${id}" is a plugin of the runtime; rename it`
      : "an id has lowercase letters, digits, and -, at most 32 of them";
    context.addIssue({ code: "custom", path: [id], message });
  }
});

const file = z.strictObject({ plugins });

/** Where the server of a plugin is. */
export interface GrpcTarget {
  readonly target: string;
  readonly tls: PluginTls | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The contents of the TLS files. */
interface PluginTls {
  readonly ca: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
  readonly serverName: string | undefined;
}

/** The settings of one plugin. */
export type PluginConfig = {
  readonly id: string;
  readonly ignoresFailures: boolean;
} & ({ readonly kind: "package"; readonly module: URL } | ({ readonly kind: "grpc" } & GrpcTarget));

/**
 * Reads the plugins of a deployment, in YAML or JSON. Fills in variables of the environment in their metadata, which are redacted from
 * then on. Throws a Failure that says what is wrong with the file, or with a file that it names.
 */
export async function readPluginConfig(
  path: string | undefined,
  environment: Environment,
): Promise<readonly PluginConfig[]> {
  if (path === undefined) return [];
  const parsed = file.safeParse(await contentOf(path));
  if (!parsed.success) throw invalidConfig(setting, `${path} ${z.prettifyError(parsed.error)}`);
  const entries = Object.entries(parsed.data.plugins);
  return await Promise.all(
    entries.map(async ([id, given]): Promise<PluginConfig> => {
      const common = { id, ignoresFailures: given.on_failure === "continue" };
      if ("package" in given) {
        return { ...common, kind: "package", module: moduleOf(given.package, path) };
      }
      const metadata = Object.fromEntries(
        Object.entries(given.metadata).map(([name, text]) => [name, filled(text, environment)]),
      );
      const tls = given.tls && (await readTls(id, given.tls));
      return { ...common, kind: "grpc", target: given.target, metadata, tls };
    }),
  );
}

async function contentOf(path: string): Promise<unknown> {
  try {
    return parse(await readFile(path, "utf8"));
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw invalidConfig(setting, `${path} cannot be read: ${problem}`, cause);
  }
}

function moduleOf(name: string, path: string): URL {
  const folder = dirname(resolve(path));
  if (/^[./]/.test(name)) return pathToFileURL(resolve(folder, name));
  try {
    return pathToFileURL(createRequire(resolve(folder, "x.js")).resolve(name));
  } catch (cause) {
    throw invalidConfig(setting, `the package ${name} is not installed beside ${path}`, cause);
  }
}

function filled(text: string, environment: Environment): string {
  const value = text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const variable = environment[name];
    if (variable === undefined || variable.trim() === "") {
      throw invalidConfig(setting, `the environment has no ${name}`);
    }
    processRedaction.keep(variable.trim());
    return variable;
  });
  const trimmed = value.trim();
  if (/^[\x20-\x7E]*$/.test(trimmed)) return trimmed;
  throw invalidConfig(setting, "metadata must contain only printable ASCII characters");
}

async function readTls(id: string, files: z.infer<typeof tlsFiles>): Promise<PluginTls> {
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw invalidConfig(setting, `plugin ${id}: tls.cert and tls.key must be set together`);
  }
  const pem = async (path: string | undefined) => {
    if (path === undefined) return null;
    try {
      return await readFile(path);
    } catch (cause) {
      throw invalidConfig(setting, `plugin ${id}: ${path} cannot be read`, cause);
    }
  };
  const [ca = null, cert = null, key = null] = await Promise.all(
    [files.ca, files.cert, files.key].map(pem),
  );
  return { ca, cert, key, serverName: files.server_name };
}
