import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./exit-code.ts";

/** Options that say which server a command talks to. */
export interface ServerOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** A server and the credential for it. */
export interface ServerAddress {
  readonly url: string;
  /** Undefined: none was found; the server will say whether it wants one. */
  readonly token: string | undefined;
}

export const defaultUrl = "http://127.0.0.1:4680";
export const defaultDataDir = ".reeve";

/** Reads what was typed, else the environment, else what `reeve up` left in its data folder. */
export function serverAddress(
  options: ServerOptions,
  environment: NodeJS.ProcessEnv,
): ServerAddress {
  const url = options.url ?? (environment["REEVE_URL"] || defaultUrl);
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new UsageError(`"${url}" is no address of a server: write http://host:port`);
  }
  const dataDir = options.dataDir ?? (environment["REEVE_DATA_DIR"] || defaultDataDir);
  const token = options.token ?? (environment["REEVE_TOKEN"] || tokenIn(dataDir));
  return { url: url.replace(/\/+$/, ""), token };
}

/** Path of the file in which the embedded server keeps the token for this machine's user. */
export function tokenFile(dataDir: string): string {
  return join(dataDir, "token");
}

function tokenIn(dataDir: string): string | undefined {
  try {
    return readFileSync(tokenFile(dataDir), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
