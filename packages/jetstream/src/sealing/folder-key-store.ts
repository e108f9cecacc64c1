import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { keyBytes } from "./aes-gcm.ts";
import { keysUnavailable, tenantKeyDeleted } from "./key-failures.ts";
import type { KeyAdmin, KeyStore, WrappedKey } from "./key-store.ts";
import type { KeyVersions } from "./memory-key-store.ts";
import { unwrapWith, withNewVersion, wrapWith } from "./memory-key-store.ts";
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
 * same folder. The first use creates a file, and a file is read for each use, so changes need no restart. The file of a deleted
 * key stays, and says so.
 */
export class FolderKeyStore implements KeyStore, KeyAdmin {
  readonly #folder: string;

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

  async rotate(tenant: string, signal: AbortSignal): Promise<void> {
    const versions = await this.#read(tenant, signal);
    if (versions === undefined) await this.#create(tenant, signal);
    else await this.#replace(tenant, contentOf(withNewVersion(versions)));
  }

  async retire(tenant: string, signal: AbortSignal): Promise<void> {
    const versions = await this.#read(tenant, signal);
    if (versions !== undefined) await this.#replace(tenant, contentOf(versions.slice(-1)));
  }

  async delete(tenant: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const path = this.#pathOf(tenant);
    const old = await open(path, "r+").catch(() => undefined);
    await this.#replace(tenant, { deleted: new Date().toISOString() });
    if (old === undefined) return;
    await using _ = { [Symbol.asyncDispose]: () => old.close() };
    // The old file has no name any more. What it held should not be found on the disk.
    const { size } = await old.stat();
    await old.write(randomBytes(size), 0, size, 0);
    await old.sync();
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
    const draft = await this.#write(contentOf(versions));
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
    const draft = await this.#write(content);
    try {
      await rename(draft, path);
      await syncFolder(path);
    } catch (cause) {
      throw keysUnavailable(`${path} cannot be written`, cause);
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Writes a file that a crash of the machine does not lose. Returns its path. */
  async #write(content: object): Promise<string> {
    const path = join(this.#folder, `.draft-${randomBytes(8).toString("hex")}`);
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const file = await open(path, "wx", 0o600);
      await using _ = { [Symbol.asyncDispose]: () => file.close() };
      await file.writeFile(`${JSON.stringify(content)}\n`);
      await file.sync();
      return path;
    } catch (cause) {
      throw keysUnavailable(`no key can be stored in ${this.#folder}`, cause);
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
