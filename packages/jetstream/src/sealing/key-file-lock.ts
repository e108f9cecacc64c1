import { randomBytes } from "node:crypto";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import { keysUnavailable } from "./key-failures.ts";

const holder = z.object({ host: z.string(), pid: z.number().int().positive(), since: z.string() });

/**
 * A file that keeps other commands from changing the key of a tenant. One that a process of this host left behind is replaced; for one
 * of another host, an operator has to decide.
 */
export class KeyFileLock {
  readonly #path: string;
  readonly #tenant: string;
  readonly #content: string;

  private constructor(path: string, tenant: string, content: string) {
    this.#path = path;
    this.#tenant = tenant;
    this.#content = content;
  }

  /** Throws a Failure of kind `conflict` if another command has the lock. */
  static async take(folder: string, tenant: string): Promise<KeyFileLock> {
    const path = join(folder, `.lock-${tenant}`);
    const content = JSON.stringify({
      host: hostname(),
      pid: process.pid,
      since: new Date().toISOString(),
      token: randomBytes(8).toString("hex"),
    });
    if (await created(path, content)) return new KeyFileLock(path, tenant, content);
    const found = await readFile(path, "utf8").catch(() => "");
    if (isLeft(found)) {
      await removeLeft(path, found);
      if (await created(path, content)) return new KeyFileLock(path, tenant, content);
    }
    throw taken(tenant, path, found);
  }

  /** Throws a Failure if somebody removed the lock: nothing may be changed without it. */
  async check(): Promise<void> {
    const found = await readFile(this.#path, "utf8").catch(() => "");
    if (found !== this.#content) throw taken(this.#tenant, this.#path, found);
  }

  async release(): Promise<void> {
    const found = await readFile(this.#path, "utf8").catch(() => "");
    if (found === this.#content) await rm(this.#path, { force: true });
  }
}

/** Creates a lock with its content at once, so that nobody sees it without. */
async function created(path: string, content: string): Promise<boolean> {
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    const file = await open(draft, "wx", 0o600);
    await using _ = { [Symbol.asyncDispose]: () => file.close() };
    await file.writeFile(content);
    await link(draft, path);
    return true;
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false;
    throw keysUnavailable(`${path} cannot be created`, cause);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Whether the process of this host that took a lock has ended. */
function isLeft(content: string): boolean {
  const found = holderOf(content);
  if (found === undefined || found.host !== hostname()) return false;
  try {
    process.kill(found.pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}

/** Removes a lock. If another one is there meanwhile, that one stays. */
async function removeLeft(path: string, content: string): Promise<void> {
  const aside = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    await rename(path, aside);
  } catch {
    // Another command removed it.
    return;
  }
  const moved = await readFile(aside, "utf8");
  if (moved !== content) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

function taken(tenant: string, path: string, content: string): Failure {
  const by = holderOf(content);
  const who = by && ` (process ${by.pid} on ${by.host}, since ${by.since})`;
  const message = `another command changes the key of tenant ${tenant}${who ?? ""}; try again when it has ended; if it was killed, delete ${path} first`;
  return new Failure("conflict", ErrorReason.REVISION_CONFLICT, message);
}

function holderOf(content: string): z.infer<typeof holder> | undefined {
  try {
    return holder.safeParse(JSON.parse(content)).data;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
