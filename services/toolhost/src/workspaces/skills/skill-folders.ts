import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SkillFile } from "@reeve/agent/skills/skill";
import type { MountedSkill } from "@reeve/contracts/tool";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { abortable } from "@reeve/platform/async/abortable";
import type { Identity } from "@reeve/sandbox/host/identity";
import type { OwnedFolder } from "@reeve/sandbox/host/owned-folder";
import { ownedFolder } from "@reeve/sandbox/host/owned-folder";
import { readSkill } from "./read-skill.ts";

/** How much of the disk the folders may take that no call uses. */
const defaultMaxBytes = 256 * 2 ** 20;
const blockBytes = 4_096;
const fetchTimeoutMs = 60_000;

export interface SkillFoldersOptions {
  /** Folder of the host below which the skills of this process are. Sandboxes must be able to pass through it. */
  readonly below: string;
  readonly identity: Identity;
  readonly artifacts: Pick<ArtifactStore, "read">;
  /** Default: 256 MiB. */
  readonly maxBytes?: number;
}

/** A folder with one folder for each skill, which stays as it is until it is disposed. */
export interface UsedFolder extends Disposable {
  readonly path: string;
}

interface Entry {
  readonly folder: Promise<{ readonly path: string; readonly bytes: number }>;
  users: number;
  /** 0: it is not complete yet. */
  bytes: number;
}

/**
 * The skills that sandboxes of this host mount: a folder for each combination that a tenant uses, written once and never changed. Those that
 * no call uses are deleted when they are too large together, the longest unused first, and all when the toolhost ends. No two tenants
 * share a folder.
 */
export class SkillFolders implements AsyncDisposable {
  readonly #options: SkillFoldersOptions;
  /** The one used last is the last. */
  readonly #entries = new Map<string, Entry>();
  readonly #end = new AbortController();
  #root: Promise<OwnedFolder> | undefined;

  constructor(options: SkillFoldersOptions) {
    this.#options = options;
  }

  /** Returns a folder with skills, and writes it first if it is missing. Throws a Failure that names a skill that cannot be read. */
  async use(
    tenant: string,
    skills: readonly MountedSkill[],
    signal: AbortSignal,
  ): Promise<UsedFolder> {
    const key = keyOf(tenant, skills);
    const entry = this.#entries.get(key) ?? this.#add(key, tenant, skills);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users += 1;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      entry.users -= 1;
      this.#deleteUnused();
    };
    try {
      const { path } = await abortable(entry.folder, signal);
      return { path, [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the toolhost ends", "AbortError"));
    await Promise.allSettled([...this.#entries.values()].map(({ folder }) => folder));
    const root = await this.#root?.catch(() => undefined);
    await root?.[Symbol.asyncDispose]();
  }

  #add(key: string, tenant: string, skills: readonly MountedSkill[]): Entry {
    // Of this process and not of the call that needs it first, because others may wait for it.
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(fetchTimeoutMs)]);
    const folder = this.#write(key, tenant, skills, signal);
    const entry: Entry = { folder, users: 0, bytes: 0 };
    this.#entries.set(key, entry);
    folder.then(
      ({ bytes }) => (entry.bytes = bytes),
      // The next call tries again.
      () => this.#entries.get(key) === entry && this.#entries.delete(key),
    );
    return entry;
  }

  async #write(
    key: string,
    tenant: string,
    skills: readonly MountedSkill[],
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly bytes: number }> {
    const { below, identity, artifacts } = this.#options;
    this.#root ??= ownedFolder(below, identity).catch((error: unknown) => {
      this.#root = undefined;
      throw error;
    });
    // No path is used twice: idle sandboxes of a folder that was deleted have nothing of another one.
    const path = join((await this.#root).path, `${key}-${randomBytes(4).toString("hex")}`);
    let bytes = 0;
    try {
      await makeFolder(path);
      for (const skill of skills) {
        const files = await readSkill(tenant, skill, artifacts, signal);
        await writeFiles(join(path, skill.name), files);
        bytes += files.reduce((sum, { content }) => sum + diskBytesOf(content), 0);
      }
    } catch (error) {
      await rm(path, { recursive: true, force: true });
      throw error;
    }
    return { path, bytes };
  }

  #deleteUnused(): void {
    const { maxBytes = defaultMaxBytes } = this.#options;
    const entries = [...this.#entries];
    let bytes = entries.reduce((sum, [, entry]) => sum + entry.bytes, 0);
    for (const [key, entry] of entries) {
      if (bytes <= maxBytes) return;
      if (entry.users > 0 || entry.bytes === 0) continue;
      this.#entries.delete(key);
      bytes -= entry.bytes;
      // What cannot be deleted goes with the folder of the process.
      void entry.folder
        .then(({ path }) => rm(path, { recursive: true, force: true }))
        .catch(() => undefined);
    }
  }
}

/** Small files take a block of the disk, and a skill may have hundreds. */
function diskBytesOf({ length }: Uint8Array): number {
  return Math.max(1, Math.ceil(length / blockBytes)) * blockBytes;
}

function keyOf(tenant: string, skills: readonly MountedSkill[]): string {
  const parts = [tenant, ...skills.map(({ name, digest }) => `${name} ${digest}`)];
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 32);
}

async function writeFiles(folder: string, files: readonly SkillFile[]): Promise<void> {
  const folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
  for (const each of [".", ...folders]) await makeFolder(join(folder, each));
  for (const { path, content } of files) {
    const isScript = content[0] === 0x23 && content[1] === 0x21;
    const file = join(folder, path);
    await writeFile(file, content, { flag: "wx" });
    await chmod(file, isScript ? 0o555 : 0o444);
  }
}

/** Returns the folders on the way to a file, outermost first. */
function foldersOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [...foldersOf(parent), parent];
}

/** Creates a folder that sandboxes can read, whatever the mask of this process. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path);
  await chmod(path, 0o755);
}
