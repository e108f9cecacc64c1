import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import { keyBytes } from "./aes-gcm.ts";
import { KeyFileLock } from "./key-file-lock.ts";
import { keysUnavailable, tenantKeyDeleted } from "./key-failures.ts";
import type { KeyAdmin, KeyStore, WrappedKey } from "./key-store.ts";
import type { KeyVersions } from "./memory-key-store.ts";
import { unwrapWith, versionsFrom, withNewVersion, wrapWith } from "./memory-key-store.ts";
import { checkedTenant } from "./tenant-name.ts";

const base64Key = z
  .base64()
  .transform((text): Uint8Array => Buffer.from(text, "base64"))
  .refine(({ length }) => length === keyBytes, `is not a key of ${keyBytes} bytes`);

const keyFile = z.union([
  z.strictObject({ deleted: z.string() }),
  z.strictObject({
    keys: z
      .array(z.strictObject({ version: z.string().regex(/^\d{1,9}$/), key: base64Key }))
      .min(1),
  }),
]);

/**
 * Keys of tenants in a folder: one file `<tenant>.json` for each, which only its user can read. All services of a deployment use the
 * same folder, which has to exist. The first use creates a file, and a file is read for each use, so changes need no restart. The file of a deleted
 * key stays, and says so.
 */
export class FolderKeyStore implements KeyStore, KeyAdmin {
  readonly #folder: string;
  /** The locks that this object has now. */
  readonly #locks = new Map<string, KeyFileLock>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async wrap(tenant: string, dataKey: Uint8Array, signal: AbortSignal): Promise<WrappedKey> {
    const versions = (await this.#read(tenant, signal)) ?? (await this.#create(tenant, signal));
    return wrapWith(tenant, versions, dataKey);
  }

  async unwrap(tenant: string, wrapped: WrappedKey, signal: AbortSignal): Promise<Uint8Array> {
    const versions = await this.#read(tenant, signal);
    // Restored from a backup, or of another folder: it may come back.
    if (versions === undefined) throw keysUnavailable(`${this.#pathOf(tenant)} is missing`);
    return unwrapWith(tenant, versions, wrapped);
  }

  async lock(tenant: string, signal: AbortSignal): Promise<AsyncDisposable> {
    signal.throwIfAborted();
    const lock = await KeyFileLock.take(this.#folder, checkedTenant(tenant));
    this.#locks.set(tenant, lock);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#locks.delete(tenant);
        await lock.release();
      },
    };
  }

  async rotate(tenant: string, signal: AbortSignal): Promise<void> {
    await using _ = await this.#locked(tenant, signal);
    const versions = await this.#read(tenant, signal);
    if (versions === undefined) await this.#create(tenant, signal);
    else await this.#replace(tenant, contentOf(withNewVersion(versions)));
  }

  async retire(tenant: string, oldest: string, signal: AbortSignal): Promise<void> {
    await using _ = await this.#locked(tenant, signal);
    const versions = await this.#read(tenant, signal);
    if (versions === undefined) return;
    await this.#replace(tenant, contentOf(versionsFrom(versions, oldest)));
  }

  async delete(tenant: string, signal: AbortSignal): Promise<void> {
    await using _ = await this.#locked(tenant, signal);
    const path = this.#pathOf(tenant);
    const old = await open(path, "r+").catch(() => undefined);
    await this.#replace(tenant, { deleted: new Date().toISOString() });
    if (old !== undefined) await overwrite(old);
  }

  /** Takes the lock of a tenant, unless this object has it. */
  async #locked(tenant: string, signal: AbortSignal): Promise<AsyncDisposable | undefined> {
    return this.#locks.has(tenant) ? undefined : await this.lock(tenant, signal);
  }

  /** Returns undefined if the tenant never had a key. */
  async #read(tenant: string, signal: AbortSignal): Promise<KeyVersions | undefined> {
    const path = this.#pathOf(tenant);
    let text: string;
    try {
      text = await readFile(path, { encoding: "utf8", signal });
    } catch (cause) {
      signal.throwIfAborted();
      if (codeOf(cause) === "ENOENT") return undefined;
      throw keysUnavailable(`${path} cannot be read`, cause);
    }
    const parsed = keyFile.safeParse(jsonOf(text));
    // Without the cause, which may quote a key.
    if (!parsed.success) throw keysUnavailable(`${path} is not a file with keys`);
    if ("deleted" in parsed.data) throw tenantKeyDeleted(tenant);
    return parsed.data.keys.map(({ version, key }) => [version, key] as const);
  }

  /** Creates the first version of a key. Of several processes that do this at once, one succeeds, and all use its key. */
  async #create(tenant: string, signal: AbortSignal): Promise<KeyVersions> {
    const versions = withNewVersion([]);
    const path = this.#pathOf(tenant);
    const draft = await this.#write(contentOf(versions), undefined);
    try {
      await link(draft, path);
      await syncFolder(path);
      return versions;
    } catch (cause) {
      if (codeOf(cause) !== "EEXIST") throw keysUnavailable(`${path} cannot be created`, cause);
    } finally {
      await rm(draft, { force: true });
    }
    const created = await this.#read(tenant, signal);
    if (created === undefined) throw keysUnavailable(`${path} was removed`);
    return created;
  }

  async #replace(tenant: string, content: object): Promise<void> {
    const path = this.#pathOf(tenant);
    const draft = await this.#write(content, await stat(path).catch(() => undefined));
    try {
      await this.#locks.get(tenant)?.check();
      await rename(draft, path);
      await syncFolder(path);
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw keysUnavailable(`${path} cannot be written`, cause);
    } finally {
      await rm(draft, { force: true });
    }
  }

  /**
   * Writes a file that a crash of the machine does not lose. It belongs to the owner of the file that it replaces. Returns its path.
   */
  async #write(content: object, replaced: Stats | undefined): Promise<string> {
    const path = join(this.#folder, `.draft-${randomBytes(8).toString("hex")}`);
    let isWritten = false;
    try {
      // The folder is never created here: a missing one is a wrong path, or a volume that is not mounted.
      const file = await open(path, "wx", 0o600);
      await using _ = { [Symbol.asyncDispose]: () => file.close() };
      await file.writeFile(`${JSON.stringify(content)}\n`);
      await keepOwner(file, this.#folder, replaced);
      await file.sync();
      isWritten = true;
      return path;
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw keysUnavailable(`no key can be stored in ${this.#folder}`, cause);
    } finally {
      if (!isWritten) await rm(path, { force: true });
    }
  }

  #pathOf(tenant: string): string {
    return join(this.#folder, `${checkedTenant(tenant)}.json`);
  }
}

function contentOf(versions: KeyVersions): object {
  const keys = versions.map(([version, key]) => ({
    version,
    key: Buffer.from(key).toString("base64"),
  }));
  return { keys };
}

/**
 * Gives a file to the user that has to read it: the owner of the file that it replaces, or else, for root, the owner of the folder.
 * Throws a Failure if that is not possible.
 */
async function keepOwner(
  file: FileHandle,
  folder: string,
  replaced: Stats | undefined,
): Promise<void> {
  const own = await file.stat();
  const owner = replaced ?? (own.uid === 0 ? await stat(folder) : own);
  if (own.uid === owner.uid) return;
  try {
    await file.chown(owner.uid, owner.gid);
  } catch (cause) {
    const problem = `the files in ${folder} belong to user ${owner.uid}, who would lose access; run the command as that user`;
    throw keysUnavailable(problem, cause);
  }
}

/** Overwrites a file that has no name any more: what it held should not be found on the disk. Closes it. */
async function overwrite(old: FileHandle): Promise<void> {
  await using _ = { [Symbol.asyncDispose]: () => old.close() };
  const { size } = await old.stat();
  await old.write(randomBytes(size), 0, size, 0);
  await old.sync();
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  await using _ = { [Symbol.asyncDispose]: () => folder.close() };
  await folder.sync();
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
