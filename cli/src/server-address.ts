import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isLoopback } from "@reeve/platform/config";
import { holderOf } from "./embedded/data-dir-lock.ts";
import { UsageError } from "./exit-code.ts";
import type { TlsContents, TlsOptions } from "./tls-options.ts";
import { readTlsOptions } from "./tls-options.ts";

/** The options that select a server. */
export interface ServerOptions extends TlsOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** A server and the token for it. */
export interface ServerAddress {
  readonly url: string;
  /** Undefined if none was found. The server then decides whether it needs one. */
  readonly token: string | undefined;
  readonly tls: TlsContents;
  /** The data folder that the options select, if it has no address because none of its servers runs. Undefined otherwise. */
  readonly stoppedDataDir?: string | undefined;
}

export const defaultUrl = "http://127.0.0.1:4680";
export const defaultDataDir = ".reeve";

/**
 * Reads the server from the options, then the environment, then the data folder of a server on this machine. The token of the
 * data folder is only for the server of this folder: the one whose address it has, else the one at the default address.
 */
export function serverAddress(
  options: ServerOptions,
  environment: NodeJS.ProcessEnv,
): ServerAddress {
  const dataDir = options.dataDir ?? (environment["REEVE_DATA_DIR"] || defaultDataDir);
  if (options.dataDir !== undefined && options.url === undefined && !existsSync(dataDir)) {
    throw new UsageError(`the data folder ${dataDir} does not exist`);
  }
  // A server that was killed leaves its address, where another program may listen now.
  const storedUrl = holderOf(dataDir) === undefined ? undefined : firstLine(urlFile(dataDir));
  const ownUrl = storedUrl ?? defaultUrl;
  const url = options.url ?? (environment["REEVE_URL"] || ownUrl);
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new UsageError(`"${url}" is not a server address; use http://host:port`);
  }
  const given = options.token ?? (environment["REEVE_TOKEN"] || undefined);
  const token = given ?? (isSameServer(url, ownUrl) ? firstLine(tokenFile(dataDir)) : undefined);
  const isSelected = options.dataDir !== undefined && options.url === undefined;
  const isStopped = isSelected && given === undefined && storedUrl === undefined;
  return {
    url: url.replace(/\/+$/, ""),
    token,
    tls: readTlsOptions(options, environment),
    stoppedDataDir: isStopped && !environment["REEVE_URL"] ? dataDir : undefined,
  };
}

/** Whether two URLs have the same origin. All loopback addresses count as one host. */
function isSameServer(one: string, other: string): boolean {
  const origin = originOf(one);
  return origin !== undefined && origin === originOf(other);
}

function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return `${url.protocol}//${isLoopback(host) ? "localhost" : host}:${url.port}`;
}

/** Returns the path of the file in which an embedded server stores the token of this machine's user. */
export function tokenFile(dataDir: string): string {
  return join(dataDir, "token");
}

/** Returns the path of the file in which an embedded server stores its address while it runs. */
export function urlFile(dataDir: string): string {
  return join(dataDir, "url");
}

function firstLine(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
