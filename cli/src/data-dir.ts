import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { tokenFile } from "./server-address.ts";

/** The folder in which an embedded server keeps everything, held by one process at a time. */
export interface DataDir extends Disposable {
  readonly path: string;
  /** The credential of this machine's user, the same from one start to the next. */
  readonly token: string;
}

/** Opens a data folder, and makes it when it is missing. Throws a Failure when another process holds it. */
export function openDataDir(given: string): DataDir {
  const path = resolve(given);
  mkdirSync(path, { recursive: true });
  const lock = join(path, "lock");
  const us = `${process.pid} ${startOf(process.pid) ?? ""}`;
  const holder = holderOf(lock);
  if (holder !== undefined && holder !== process.pid) {
    throw new Failure(
      "precondition",
      ErrorReason.UNAVAILABLE,
      `the data folder ${path} is in use by process ${holder}; end it, or name another with --data-dir`,
    );
  }
  writeFileSync(lock, us, { mode: 0o600 });
  return {
    path,
    token: tokenOf(path),
    [Symbol.dispose]: () => rmSync(lock, { force: true }),
  };
}

function tokenOf(path: string): string {
  const file = tokenFile(path);
  try {
    const kept = readFileSync(file, "utf8").trim();
    if (kept !== "") return kept;
  } catch {
    // The first start: there is none yet.
  }
  const token = `reeve_${randomBytes(24).toString("hex")}`;
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}

/** The process that holds a lock and lives; a pid that was given to another process since does not count. */
function holderOf(lock: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(lock, "utf8");
  } catch {
    return undefined;
  }
  const [pid = "", start = ""] = text.split(" ");
  const number = Number(pid);
  return number > 0 && isAlive(number) && (startOf(number) ?? "") === start ? number : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** When a process began, in clock ticks since boot; undefined where the system does not tell. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name in parentheses that may hold anything; the 22nd of all is the start.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
