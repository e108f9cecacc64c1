import process from "node:process";

/** As whom sandboxes run on the host. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  /** Whether that is another than our own, so that files must be given to it. */
  readonly isDedicated: boolean;
}

/** Root gives sandboxes an id of their own, never its own; everybody else has only himself. */
export function sandboxIdentity(dedicated: number): Identity {
  const own = process.geteuid?.() ?? -1;
  return own === 0
    ? { uid: dedicated, gid: dedicated, isDedicated: true }
    : { uid: own, gid: process.getegid?.() ?? -1, isDedicated: false };
}
