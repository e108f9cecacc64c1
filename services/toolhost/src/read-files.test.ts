import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { toolhostConfig } from "./config.ts";
import { readFiles } from "./read-files.ts";

// Requirement: RES-12
test("everything that is wrong with the files of a toolhost is reported together", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const config = toolhostConfig.parse({
    REEVE_DATA_DIR: folder,
    REEVE_SECRETS_CONFIG: at("secrets.json", "{"),
    REEVE_MCP_CONFIG: at("mcp.json", `{ "servers": 3 }`),
    REEVE_PROVIDERS_CONFIG: at("providers.json", `{ "providers": 3 }`),
  });
  const { message } = await readFiles(config, {}).then(
    () => new Error("nothing was wrong"),
    (error: Error) => error,
  );
  for (const name of ["secrets.json", "mcp.json", "providers.json"]) {
    expect(message).toContain(join(folder, name));
  }
});
