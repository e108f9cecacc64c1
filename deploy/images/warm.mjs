// Runs during an image build: compiles every module that a service loads into NODE_COMPILE_CACHE.
import { execFileSync } from "node:child_process";
import { flushCompileCache } from "node:module";
import process from "node:process";

for (const service of ["gateway", "runtime", "toolhost", "approvals"]) {
  await import(`/app/services/${service}/src/serve.ts`);
}
await import("/app/packages/platform/src/process/run-service.ts");
flushCompileCache();
execFileSync(process.execPath, ["cli/src/main.ts", "--version"], { stdio: "inherit" });
process.exit();
