import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "@reeve/platform/config";
import { z } from "zod";
import { UsageError } from "../exit-code.ts";
import { lockFile } from "../files/lock-file.ts";

const signIn = z.object({
  issuer: z.string(),
  clientId: z.string(),
  /** Further parameters of requests for tokens: `scope`, `audience`, and `resource`. */
  parameters: z.record(z.string(), z.string()),
  accessToken: z.string(),
  /** When the access token ends, in milliseconds since the epoch. Missing if the provider does not say. */
  expiresAt: z.number().optional(),
  refreshToken: z.string().optional(),
});

/** How the user signed in for one server, with the tokens. */
export type SignIn = z.infer<typeof signIn>;

const fileContent = z.object({ servers: z.record(z.string(), signIn) });

/** The file of the sign-ins is damaged, or cannot be read. */
export class UnreadableSignIns extends UsageError {}

/** The sign-ins of this user by the address of the server. A token is never sent to another server. */
export class StoredSignIns {
  readonly #folder: string;
  readonly #file: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = join(folder, "sign-ins.json");
  }

  /** Keeps other processes from changing the sign-ins until it is disposed. */
  async lock(signal: AbortSignal): Promise<AsyncDisposable> {
    return await lockFile(`${this.#file}.lock`, () => undefined, signal);
  }

  /** Returns the sign-in for a server, if there is one. Throws UnreadableSignIns if the file is of no use. */
  get(url: string): SignIn | undefined {
    return this.#read()[url];
  }

  /** Stores or, with undefined, removes a sign-in, in a file that only this user can read. The caller holds the lock. */
  put(url: string, given: SignIn | undefined): void {
    const { [url]: _, ...others } = this.#read();
    const servers = given === undefined ? others : { ...others, [url]: given };
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const next = `${this.#file}.new`;
    rmSync(next, { force: true });
    const descriptor = openSync(next, "wx", 0o600);
    try {
      // Whatever the umask of the process is.
      fchmodSync(descriptor, 0o600);
      writeFileSync(descriptor, `${JSON.stringify({ servers }, undefined, 2)}\n`);
      // Otherwise the file may be empty after a power failure.
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, this.#file);
  }

  #read(): Readonly<Record<string, SignIn>> {
    const text = this.#text();
    if (text === undefined) return {};
    const parsed = fileContent.safeParse(parseJson(text));
    if (parsed.success) return parsed.data.servers;
    throw new UnreadableSignIns(
      `${this.#file} is damaged; remove it, and sign in again with \`reeve login\``,
    );
  }

  /** Returns the content of the file, or undefined if there is none. */
  #text(): string | undefined {
    try {
      return readFileSync(this.#file, "utf8");
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      throw new UnreadableSignIns(
        `${this.#file} cannot be read: ${error.message}; let this user read it, or set REEVE_CONFIG_DIR to another folder`,
        { cause: error },
      );
    }
  }
}

/** Returns the folder for settings of this user: REEVE_CONFIG_DIR, or `reeve` in the one of the system. */
export function configFolder(environment: Environment): string {
  return (
    environment["REEVE_CONFIG_DIR"] ||
    join(
      environment["XDG_CONFIG_HOME"] || join(environment["HOME"] || homedir(), ".config"),
      "reeve",
    )
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
