import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "../..");
/** A version whose Go module has no replacements, so that the go command builds it. */
const serverVersion = "1.32.1";
const buildMs = 900_000;

/** Where the server and the packages of Temporal are. */
export interface PreparedTemporal {
  /** The program of the server. */
  readonly server: string;
  /** The folder for REEVE_TEMPORAL_SDK. */
  readonly sdk: string;
}

/**
 * Builds the server of Temporal from its Go module, and installs the packages for a runtime, into the user's cache. The first time takes
 * minutes. Throws an error with the code ENOENT if it is not built yet, and the go command is missing.
 */
export async function prepareTemporal(): Promise<PreparedTemporal> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "reeve");
  mkdirSync(cache, { recursive: true });
  const folder = join(cache, `temporal-server-${serverVersion}`);
  const server = join(folder, "temporal-server");
  if (!existsSync(server)) {
    const draft = `${folder}.${process.pid}`;
    try {
      const env = { ...process.env, GOBIN: draft, GOFLAGS: "" };
      const module = `go.temporal.io/server/cmd/server@v${serverVersion}`;
      await execute("go", ["install", "-ldflags", "-s -w", module], { env, timeout: buildMs });
      mkdirSync(folder, { recursive: true });
      renameSync(join(draft, "server"), server);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  const sdk = join(cache, `temporal-sdk-${digestOfSdk()}`);
  if (!existsSync(sdk)) {
    const install = join(root, "services/runtime/temporal/install.mjs");
    await execute(process.execPath, [install, sdk], { timeout: buildMs });
  }
  return { server, sdk };
}

function digestOfSdk(): string {
  const digest = createHash("sha256");
  const files = ["package-lock.json", "workflow.mjs"].map((file) =>
    join("services/runtime/temporal", file),
  );
  for (const file of [...files, "services/runtime/src/executors/temporal/carry-run.ts"]) {
    digest.update(readFileSync(join(root, file)));
  }
  return digest.digest("hex").slice(0, 16);
}
