import { readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TablePosition } from "../table/port.ts";

export interface IndexPlace {
  /**
   * The folder for the files of indexes; each process uses its own file. Undefined: a temporary file that ends with the process,
   * even if it is killed.
   */
  readonly folder: string | undefined;
  /** The name of the index. */
  readonly name: string;
}

/** How many processes can share a folder. */
const maxSlots = 100;
/** SQLite's code for a file that another process has locked. */
const busy = 5;
/** Checkpoints are small, because each of them delays requests. */
const settings = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA synchronous = OFF;
  PRAGMA cache_size = -16384;
  PRAGMA wal_autocheckpoint = 250;
`;
const stateTable =
  "CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, identity TEXT, instance TEXT, revision INTEGER)";

/**
 * The file of an index. It can be deleted at any time while no process uses it. It stores the position in the table that it
 * reflects, so that the next process continues from there. It never waits for the disk, so a file from before the last start of
 * the machine is not used.
 */
export class IndexDatabase implements Disposable {
  readonly sql: DatabaseSync;
  readonly #path: string;
  readonly #identity: string;
  #position: TablePosition | undefined;

  private constructor(sql: DatabaseSync, path: string, identity: string) {
    this.sql = sql;
    this.#path = path;
    this.#identity = identity;
  }

  /** Opens the first file of the place that no other process uses, or creates one. `layout` creates the tables of the index. */
  static async open({ folder, name }: IndexPlace, layout: string): Promise<IndexDatabase> {
    if (folder === undefined) return IndexDatabase.#create("", layout);
    // The records of all tenants are in it.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (let slot = 0; slot < maxSlots; slot++) {
      const database = await IndexDatabase.#openFile(
        join(folder, `${name}-${slot}.sqlite`),
        layout,
      );
      if (database !== undefined) return database;
    }
    throw new Error(`all ${maxSlots} files of index ${name} in ${folder} are in use`);
  }

  static async #openFile(path: string, layout: string): Promise<IndexDatabase | undefined> {
    let found: IndexDatabase;
    try {
      found = IndexDatabase.#create(path, layout);
      if (found.#load()) return found;
    } catch (error) {
      if (isBusy(error)) return undefined;
      await removeFile(path);
      return IndexDatabase.#create(path, layout);
    }
    await found.discard();
    return IndexDatabase.#create(path, layout);
  }

  static #create(path: string, layout: string): IndexDatabase {
    const sql = new DatabaseSync(path, { timeout: 0 });
    try {
      sql.exec(`${settings} PRAGMA journal_mode = ${path === "" ? "MEMORY" : "WAL"}`);
      sql.exec(`BEGIN EXCLUSIVE; ${stateTable}; ${layout}; COMMIT`);
    } catch (error) {
      sql.close();
      throw error;
    }
    return new IndexDatabase(sql, path, `${bootId()}\n${layout}`);
  }

  /** The path of the file; empty for a temporary one. */
  get path(): string {
    return this.#path;
  }

  /** What the index reflects; undefined for a new one. */
  get position(): TablePosition | undefined {
    return this.#position;
  }

  /** Runs `change` in the transaction that moves the position. */
  write(position: TablePosition, change: () => void): void {
    this.writeTo(() => {
      change();
      return position;
    });
  }

  /** Runs `change` in the transaction that moves the position to the one that it returns. */
  writeTo(change: () => TablePosition): void {
    let position: TablePosition;
    this.sql.exec("BEGIN");
    try {
      position = change();
      const state = this.sql.prepare("INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?)");
      state.run(this.#identity, position.instance, position.revision);
      this.sql.exec("COMMIT");
    } catch (error) {
      if (this.sql.isTransaction) this.sql.exec("ROLLBACK");
      throw error;
    }
    this.#position = position;
  }

  /** Deletes the file, and closes it. */
  async discard(): Promise<void> {
    try {
      // Removes the write-ahead log while the file is locked: another process may take over its name next.
      this.sql.exec("PRAGMA journal_mode = DELETE");
    } catch {
      // The file is damaged, and so is what it would write back.
    }
    if (this.#path !== "") await removeFile(this.#path);
    this.sql.close();
  }

  [Symbol.dispose](): void {
    if (this.sql.isOpen) this.sql.close();
  }

  /** Reads the position. Returns false for a file of another layout, or from before the last start of the machine. */
  #load(): boolean {
    const row = this.sql.prepare("SELECT identity, instance, revision FROM state").get();
    if (row === undefined) return true;
    this.#position = { instance: String(row["instance"]), revision: Number(row["revision"]) };
    return row["identity"] === this.#identity;
  }
}

async function removeFile(path: string): Promise<void> {
  for (const suffix of ["", "-wal", "-journal"]) await rm(`${path}${suffix}`, { force: true });
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === busy;
}

/** Identifies the time since the last start of the machine. */
function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}
