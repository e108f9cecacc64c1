import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import * as restate from "@restatedev/restate-sdk";
import { callMessage, callModel, maxTurns, resultMessage, toolResult } from "./loop.mjs";

/**
 * The loop by hand as a durable function: each model call and each tool call is a step that the Restate server journals. Its text
 * arrives as a whole. Starts the server with a folder of its own, and prints the address of its ingress.
 */
const baseUrl = process.env.OPENAI_BASE_URL;

const agent = restate.service({
  name: "agent",
  handlers: {
    run: async (ctx, model) => {
      const messages = [{ role: "user", content: "go" }];
      for (let turn = 0; turn < maxTurns; turn++) {
        const { text, calls } = await ctx.run("model", () =>
          callModel(baseUrl, model, messages, () => undefined),
        );
        if (calls.length === 0) return text;
        messages.push(callMessage(calls));
        for (const id of calls) {
          const result = await ctx.run("tool", async () => toolResult);
          messages.push(resultMessage(id, result));
        }
      }
      throw new restate.TerminalError("too many turns");
    },
  },
});

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function until(ready) {
  for (;;) {
    if (await ready().catch(() => false)) return;
    await setTimeout(100);
  }
}

const [port, ingress, admin, node] = [
  await freePort(),
  await freePort(),
  await freePort(),
  await freePort(),
];
await restate.serve({ services: [agent], port });
const folder = mkdtempSync(join(tmpdir(), "reeve-bench-restate-"));
// Not the script of the package: it would leave its child behind when it is killed.
const program = `@restatedev/restate-server-${process.platform}-${process.arch}`;
const manifest = createRequire(import.meta.url).resolve(`${program}/package.json`);
const server = spawn(join(dirname(manifest), "bin/restate-server"), ["--node-name", "bench"], {
  stdio: ["ignore", "ignore", "inherit"],
  env: {
    ...process.env,
    RESTATE_BASE_DIR: folder,
    RESTATE_LOG_FILTER: "error",
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
  },
});
const end = () => {
  server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
  process.exit();
};
server.on("exit", (code) => {
  console.error(`restate-server ended with ${code}`);
  process.exit(1);
});
process.on("SIGTERM", end);
process.on("disconnect", end);
await until(async () => (await fetch(`http://127.0.0.1:${admin}/health`)).ok);
const registered = await fetch(`http://127.0.0.1:${admin}/deployments`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
});
if (!registered.ok) throw new Error(await registered.text());
console.log(`http://127.0.0.1:${ingress}/agent/run`);
