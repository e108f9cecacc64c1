/**
 * Generates the TypeScript of the contracts, the users of NATS with their permissions, the OpenAPI document, and the JSON Schemas of
 * files: `npm run gen`. With `--check` it changes nothing, and fails if something is out of date.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { writeProtoDependencies } from "./write-proto-dependencies.ts";

const generated = "packages/contracts/gen";

writeProtoDependencies();
if (process.argv.includes("--check")) compareWithGenerated();
else execFileSync("buf", ["generate", "--clean"], { stdio: "inherit" });
// Imported here, because it reads the contracts that were just generated.
const { writeNatsUsers } = await import("./write-nats-users.ts");
writeNatsUsers({ isCheck: process.argv.includes("--check") });
const { writeOpenapi } = await import("./write-openapi.ts");
writeOpenapi({ isCheck: process.argv.includes("--check") });
const { writeSchemas } = await import("./schemas/write-schemas.ts");
writeSchemas({ isCheck: process.argv.includes("--check") });

function compareWithGenerated(): void {
  const fresh = mkdtempSync(join(tmpdir(), "reeve-gen-"));
  try {
    execFileSync("buf", ["generate", "--output", fresh], { stdio: "inherit" });
    execFileSync("diff", ["-r", generated, join(fresh, generated)], { stdio: "inherit" });
  } catch {
    console.error(`${generated} is out of date with the contracts; run: npm run gen`);
    process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
