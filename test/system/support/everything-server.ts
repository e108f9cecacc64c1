import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import process from "node:process";
import { createInterface } from "node:readline";
import { freePort } from "../../support/free-ports.ts";

const maxAttempts = 5;

const require = createRequire(import.meta.url);

/** The public MCP server that demonstrates all features of the protocol. */
export const everythingProgram =
  require.resolve("@modelcontextprotocol/server-everything/dist/index.js");

/** The public MCP server that serves the files of folders. */
export const filesystemProgram =
  require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js");

/** Starts that server as a process, over streamable HTTP on loopback. */
export async function startEverythingServer(): Promise<AsyncDisposable & { readonly url: string }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const child = spawn(process.execPath, [everythingProgram, "streamableHttp"], {
      env: { PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    // Another process may take the port in the meantime.
    if (await listens(child)) {
      return {
        url: `http://127.0.0.1:${port}/mcp`,
        [Symbol.asyncDispose]: () => end(child),
      };
    }
    if (attempt === maxAttempts) throw new Error("the server found no port to listen on");
  }
}

async function listens(child: ChildProcess & { readonly stderr: NodeJS.ReadableStream }) {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (line.includes("listening on port")) resolve(true);
  });
  child.once("exit", () => resolve(false));
  return await promise;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
