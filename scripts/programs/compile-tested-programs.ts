import { join } from "node:path";
import { compilePrograms } from "./compile-programs.ts";
import { shippedPrograms } from "./shipped-programs.ts";

const root = join(import.meta.dirname, "../..");
const place = "node_modules/.cache/reeve-programs";

/** Bundles the services, the command line, and the MCP server of most tests for tests, which start hundreds of them. Returns the folder. */
export async function compileTestedPrograms(): Promise<string> {
  const folder = join(root, place);
  const server = "services/toolhost/test/support/progress-server.ts";
  await compilePrograms({
    programs: { ...shippedPrograms, "progress-server": server },
    folder,
    place,
  });
  return folder;
}
