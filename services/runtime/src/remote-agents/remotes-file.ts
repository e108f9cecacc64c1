import { readFile } from "node:fs/promises";
import type { Environment } from "@reeve/platform/config";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { parseYamlFile } from "@reeve/platform/process/parse-yaml-file";
import { AddressGuard } from "@reeve/sandbox/network/address-guard";
import type { JWK } from "jose";
import { z } from "zod";
import { keysIn } from "./read-keys.ts";

const remoteSchema = z.strictObject({
  /** What errors call it. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "has 1 to 63 lower-case letters, digits, and -"),
  /** Agents whose URL begins with it may be called. */
  url: z.url({ protocol: /^https?$/ }),
  /** The tenants whose agents may call it. Default: all. */
  tenants: z.array(z.string().min(1)).optional(),
  /** The environment variable of the runtime with its bearer token. Default: requests have none. */
  token_env: z.string().min(1).optional(),
  /** The file with its bearer token, instead of `token_env`. */
  token_file: z.string().min(1).optional(),
  /** A file with the public keys (JWKS) that sign its agent cards. Default: a signature is checked with the keys that it names below `url`. */
  card_keys: z.string().min(1).optional(),
  /** Addresses and ranges that are permitted although they are of this host or of a private network. */
  allow_addresses: z
    .array(z.string().refine(isRange, { message: "is no address, and no range as 10.0.0.0/8" }))
    .default([]),
  /** Where its cards may offer gRPC, as `https://host:port`, or `http://host:port` without TLS. Default: the host and port of `url`, if `url` has no path. */
  grpc: z
    .array(
      z
        .url({ protocol: /^https?$/ })
        .refine((url) => isOrigin(url), { message: "is not of the form https://host:port" }),
    )
    .max(100)
    .optional(),
  /** The binding over which its agents are called. Default: the first of the card that can be used. */
  binding: z.enum(["JSONRPC", "HTTP+JSON", "GRPC"]).optional(),
});

const fileSchema = z.strictObject({
  remotes: z
    .array(remoteSchema)
    .max(1_000)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
      message: "two remotes have the same name; rename one",
    }),
});

/** Agents elsewhere that this runtime may call. */
export interface Remote {
  readonly name: string;
  /** What their addresses begin with; ends with `/`. */
  readonly prefix: string;
  /** Undefined: all. */
  readonly tenants: readonly string[] | undefined;
  readonly token: string | undefined;
  readonly allowedAddresses: readonly string[];
  /** The keys that must have signed its cards. Undefined: cards need no signature. */
  readonly cardKeys: readonly JWK[] | undefined;
  /** The origins that may be called over gRPC, which knows no paths. */
  readonly grpcOrigins: readonly string[];
  /** Undefined: the first one of the card that can be used. */
  readonly binding: string | undefined;
}

/** Whether a URL names a host and a port, and nothing else. */
function isOrigin(url: string): boolean {
  return URL.canParse(url) && new URL(url).href === `${new URL(url).origin}/`;
}

function isRange(text: string): boolean {
  try {
    return new AddressGuard([text]) instanceof AddressGuard;
  } catch {
    return false;
  }
}

/** Reads the file of the operator. Throws a Failure with every problem of an unusable one. */
export async function readRemotes(
  path: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly Remote[]> {
  const text = await readFile(path, { encoding: "utf8", signal });
  const { remotes } = parseYamlFile(text, path, fileSchema);
  return await Promise.all(
    remotes.map(async (entry) => {
      const { name, url, tenants, card_keys: keys, allow_addresses: allowedAddresses } = entry;
      // The token of agents below a path is not for everything else at their host.
      const grpc = entry.grpc ?? (isOrigin(url) ? [url] : []);
      return {
        name,
        prefix: url.endsWith("/") ? url : `${url}/`,
        tenants,
        token: await tokenOf(entry, environment, signal),
        allowedAddresses,
        cardKeys: keys === undefined ? undefined : await cardKeysIn(keys, name, signal),
        grpcOrigins: grpc.map((each) => new URL(each).origin),
        binding: entry.binding,
      };
    }),
  );
}

async function tokenOf(
  { name, token_env: variable, token_file: path }: z.infer<typeof remoteSchema>,
  environment: Environment,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (path === undefined)
    return variable === undefined ? undefined : tokenIn(environment, name, variable);
  const token = (await readNamed("token_file", { name, path }, signal)).trim();
  if (variable === undefined && token !== "") return token;
  const problem =
    token === "" ? `its file ${path} is empty` : "it has both token_env and token_file";
  const message = `REEVE_A2A_REMOTES: the remote ${name} has no usable token: ${problem}; correct it`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}

/** Reads a file that an entry names. Throws a Failure that names both. */
async function readNamed(
  field: string,
  { name, path }: { readonly name: string; readonly path: string },
  signal: AbortSignal,
): Promise<string> {
  try {
    return await readFile(path, { encoding: "utf8", signal });
  } catch (cause) {
    signal.throwIfAborted();
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    const message = `REEVE_A2A_REMOTES: ${field} of the remote ${name} is ${path}, which cannot be read: ${code}; correct it`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
  }
}

async function cardKeysIn(path: string, name: string, signal: AbortSignal) {
  const keys = keysIn(await readNamed("card_keys", { name, path }, signal));
  if (keys !== undefined) return keys;
  const message = `REEVE_A2A_REMOTES: card_keys of the remote ${name} is ${path}, which has no public keys; write them as a JSON Web Key Set`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}

function tokenIn(environment: Environment, name: string, variable: string): string {
  const token = environment[variable];
  if (token !== undefined && token !== "") return token;
  const message = `REEVE_A2A_REMOTES: the remote ${name} names the variable ${variable}, which is not set; set it, or remove token_env`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}

/** Returns the entry that permits calls of a tenant to a URL: the most specific one. Undefined: none does. */
export function remoteFor(
  remotes: readonly Remote[],
  tenant: string,
  url: string,
): Remote | undefined {
  return remotes
    .filter(
      ({ prefix, tenants }) =>
        isBelow(prefix, url) && (tenants === undefined || tenants.includes(tenant)),
    )
    .toSorted((a, b) => b.prefix.length - a.prefix.length)[0];
}

/** Whether a URL is a prefix, or below it. The URL is normalized first, so that `..` leads nowhere else. */
export function isBelow(prefix: string, url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { href, pathname, username, password } = new URL(url);
  if (username !== "" || password !== "") return false;
  // Servers that decode these in a path may leave the prefix.
  if (/%2f|%5c/i.test(pathname)) return false;
  const base = new URL(prefix).href;
  return href.startsWith(base) || `${href}/` === base;
}
