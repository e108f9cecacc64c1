import process from "node:process";

/** User and group that run sandboxes on the host. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  /** Whether this is not our own user, so files must change their owner. */
  readonly isDedicated: boolean;
}

/** Returns `dedicated` as user and group if this process is root, and the user of this process otherwise. Never root. */
export function sandboxIdentity(dedicated: number): Identity {
  const own = process.geteuid?.() ?? -1;
  return own === 0
    ? { uid: dedicated, gid: dedicated, isDedicated: true }
    : { uid: own, gid: process.getegid?.() ?? -1, isDedicated: false };
}
