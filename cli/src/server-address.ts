import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./exit-code.ts";

/** The options that select a server. */
export interface ServerOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** A server and the token for it. */
export interface ServerAddress {
  readonly url: string;
  /** Undefined if none was found. The server then decides whether it needs one. */
  readonly token: string | undefined;
}

export const defaultUrl = "http://127.0.0.1:4680";
export const defaultDataDir = ".reeve";

/** Reads the server from the options, then the environment, then the data folder of a server on this machine. */
export function serverAddress(
  options: ServerOptions,
  environment: NodeJS.ProcessEnv,
): ServerAddress {
  const dataDir = options.dataDir ?? (environment["REEVE_DATA_DIR"] || defaultDataDir);
  const url =
    options.url ?? (environment["REEVE_URL"] || (firstLine(urlFile(dataDir)) ?? defaultUrl));
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new UsageError(`"${url}" is not a server address; use http://host:port`);
  }
  const token = options.token ?? (environment["REEVE_TOKEN"] || firstLine(tokenFile(dataDir)));
  return { url: url.replace(/\/+$/, ""), token };
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
