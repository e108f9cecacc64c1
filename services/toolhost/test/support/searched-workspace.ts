import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Ground, SandboxedWorkspace } from "./sandboxed-workspace.ts";
import { sandboxedWorkspace } from "./sandboxed-workspace.ts";

/** A workspace with everything that a search may find: texts, a binary file, links that lead out of it and in circles, a pipe. */
export interface SearchedWorkspace extends SandboxedWorkspace {
  /** Returns the lines of a search result, or a single line that says why it was refused. */
  found(tool: Tool, args: JsonObject): Promise<readonly string[]>;
}

export async function searchedWorkspace(
  signal: AbortSignal,
  ground?: Ground,
): Promise<SearchedWorkspace> {
  await using starting = new AsyncDisposableStack();
  const workspace = starting.use(await sandboxedWorkspace(signal, ground));
  await workspace.prepare(`
mkdir -p src/deep/er docs 'odd names' empty
printf 'import os\\nprint("Total")\\n' > src/main.py
printf 'total = 1\\n' > src/deep/er/sums.py
printf 'let total;\\n' > src/app.ts
printf '# Total\\n\\nnothing\\n' > docs/readme.md
printf 'total' > .hidden
printf 'total\\0total' > binary.bin
ln -s ../../../etc docs/etc
ln -s /usr/share/zoneinfo zones
ln -s . self
ln -s src/app.ts link.ts
mkfifo pipe`);
  const resources = starting.move();
  return {
    ...workspace,
    async found(tool, args) {
      const { content, isError } = await workspace.call(tool, args);
      expect(content).not.toContain("Traceback");
      return isError ? [`refused: ${content}`] : content.split("\n");
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
