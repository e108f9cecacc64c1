import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findProgram } from "@reeve/platform/nats/nats-server";

/** A NATS server whose store has a limit. */
export interface SmallNats extends AsyncDisposable {
  readonly url: string;
}

/** Starts a NATS server on loopback. It stores at most `maxBytes`, or its account does. */
export async function startSmallNats(
  maxBytes: number,
  limited: "server" | "account" = "server",
): Promise<SmallNats> {
  const folder = mkdtempSync(join(tmpdir(), "reeve-small-"));
  const config = join(folder, "nats.conf");
  const limit = { max_file: maxBytes };
  const settings = {
    listen: "127.0.0.1:-1",
    jetstream: { store_dir: folder, ...(limited === "server" && limit) },
    ...(limited === "account" && {
      accounts: { reeve: { jetstream: limit, users: [{ user: "open", password: "open" }] } },
      no_auth_user: "open",
    }),
  };
  // NATS reads JSON.
  writeFileSync(config, JSON.stringify(settings));
  const child = spawn(findProgram("nats-server") ?? "nats-server", ["-c", config], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  let port = "";
  for await (const line of createInterface({ input: child.stderr })) {
    port = /Listening for client connections on \S+:(\d+)/.exec(line)?.[1] ?? port;
    if (line.includes("Server is ready")) break;
  }
  if (port === "") throw new Error("the server did not start");
  child.stderr.resume();
  return {
    url: `nats://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
