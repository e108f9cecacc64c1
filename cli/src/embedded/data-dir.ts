import { generateKeyPairSync, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { tokenFile } from "../server-address.ts";
import { currentHolder, holderOf, lockFileOf } from "./data-dir-lock.ts";

/** The folder with all data of an embedded server. One process at a time holds it, until it is disposed. */
export interface DataDir extends Disposable {
  readonly path: string;
  /** The token of this machine's user. It stays the same across restarts. */
  readonly token: string;
  /** The file with the key that signs receipts. It stays the same across restarts. */
  readonly receiptKeyFile: string;
}

/** The version of what the folder contains. A folder without the file `format` has version 1. */
const format = 1;

/**
 * Opens a data folder, and creates it if it does not exist. Throws a Failure if it cannot be written, and one that has changed
 * nothing if another process holds it or a newer version of Reeve wrote it.
 */
export function openDataDir(given: string): DataDir {
  const path = resolve(given);
  try {
    return openWritable(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && "syscall" in error)) throw error;
    throw refusal(
      `data folder ${path} cannot be written: ${error.message}; give it space and rights`,
      error,
    );
  }
}

function openWritable(path: string): DataDir {
  // It has the token, the memories, and the instructions of all agents.
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stored = formatOf(path);
  if (stored > format) {
    const versions = `format ${stored}, this version knows ${format}`;
    throw refusal(
      `data folder ${path} is of a newer version of Reeve (${versions}); start that version`,
    );
  }
  const holder = holderOf(path);
  if (holder !== undefined && holder !== process.pid) {
    throw refusal(
      `data folder ${path} is in use by process ${holder}; stop that process`,
      undefined,
      " and another address with --listen",
    );
  }
  if (storedText(path) !== String(format)) {
    writeFileSync(join(path, "format"), `${format}\n`, { mode: 0o600 });
  }
  writeFileSync(lockFileOf(path), currentHolder(), { mode: 0o600 });
  // Only the holder changes the rights: a running server has opened the way to its workspaces for the sandbox user.
  closeToOthers(path);
  return {
    path,
    token: tokenOf(path),
    receiptKeyFile: receiptKeyIn(path),
    [Symbol.dispose]: () => rmSync(lockFileOf(path), { force: true }),
  };
}

function refusal(problem: string, cause?: Error, further = ""): Failure {
  const message = `${problem}, or use another folder with --data-dir${further}`;
  return new Failure("precondition", ErrorReason.UNAVAILABLE, message, { cause });
}

/** Returns the format of a folder. Infinite for a file that this version cannot read. A write to a full disk leaves it empty. */
function formatOf(path: string): number {
  const text = storedText(path);
  if (text === "") return 1;
  return /^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

function storedText(path: string): string {
  const file = join(path, "format");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
}

/** Takes all rights of other users from a folder that existed already. Only its owner can do this. */
function closeToOthers(path: string): void {
  const { mode, uid } = statSync(path);
  if (uid === process.geteuid?.()) chmodSync(path, mode & 0o700);
}

function tokenOf(path: string): string {
  const file = tokenFile(path);
  try {
    const stored = readFileSync(file, "utf8").trim();
    if (stored !== "") return stored;
  } catch {
    // There is no token before the first start.
  }
  const token = `reeve_${randomBytes(24).toString("hex")}`;
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}

/** Returns the file with the key for receipts, with a new key if there is none. A write to a full disk leaves an empty file. */
function receiptKeyIn(path: string): string {
  const file = join(path, "receipt-key.pem");
  if (existsSync(file) && readFileSync(file, "utf8").trim() !== "") return file;
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  return file;
}
