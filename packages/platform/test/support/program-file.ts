import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "../../../..");

/** The programs that tests start as processes of their own: the services, the command line, and an MCP server. */
const sources = {
  gateway: "services/gateway/src/main.ts",
  runtime: "services/runtime/src/main.ts",
  toolhost: "services/toolhost/src/main.ts",
  approvals: "services/approvals/src/main.ts",
  reeve: "cli/bin/reeve.mjs",
  "progress-server": "services/toolhost/test/support/progress-server.ts",
} as const;

/**
 * Returns the first file of a program. In `npm test` it is the bundle in the folder COMPILED_PROGRAMS, which starts with about half of the
 * processor time: Node looks up, reads, and links more than a thousand files otherwise.
 */
export function programFile(name: keyof typeof sources): string {
  const compiled = process.env["COMPILED_PROGRAMS"];
  return compiled === undefined ? join(root, sources[name]) : join(compiled, `${name}.mjs`);
}
