import { delimiter } from "node:path";
import process from "node:process";

/**
 * The PATH of the user's shell, with the Node that the user has installed, as old as it may be. The pinned Node is first in the
 * PATH of tests.
 */
export const userPath: string = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);
