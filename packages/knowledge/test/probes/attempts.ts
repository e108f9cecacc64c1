// A program in place of the reader: reports what it can do. Its input is the process id of the gateway, and a port of its host.
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { text } from "node:stream/consumers";

const [gateway = 0, port = 0] = (await text(process.stdin)).split(" ").map(Number);

function works(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

async function connects(): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  const outcome = Promise.withResolvers<boolean>();
  socket.on("error", () => outcome.resolve(false));
  socket.on("connect", () => outcome.resolve(true));
  const result = await outcome.promise;
  socket.destroy();
  return result;
}

const { spawnSync } = await import("node:child_process");
const attempts = {
  variables: Object.keys(process.env),
  reads: works(() => readFileSync("/etc/hostname")),
  readsEnvironmentOfGateway: works(() => readFileSync(`/proc/${gateway}/environ`)),
  writes: works(() => writeFileSync("/tmp/reeve-probe", "")),
  spawns: works(() => {
    const { error } = spawnSync("/bin/true");
    if (error !== undefined) throw error;
  }),
  connects: await connects(),
  seesGateway: works(() => process.kill(gateway, 0)),
};
const passage = { text: JSON.stringify(attempts), page: 0, firstLine: 1, lastLine: 1 };
process.stdout.end(JSON.stringify({ passages: [passage], pageCount: 0 }));
