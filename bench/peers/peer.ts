import { Agent, request } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { run } from "../runs.ts";
import type { System } from "../system.ts";
import { usageOf } from "../process-usage.ts";
import { Program } from "../program.ts";

/** A system that executes the same agent. */
export interface Peer {
  readonly name: string;
  /** Executes a run of a model to its end. */
  run(model: string, signal: AbortSignal): Promise<void>;
  /** Returns the processor time of all its processes so far, in milliseconds. */
  cpuMs(): number;
}

/** The peers that are servers in JavaScript, by the name of their file, and their names in the results. */
const servers = {
  bare: "bare server",
  "ai-sdk": "AI SDK",
  "openai-agents": "OpenAI Agents",
  restate: "Restate",
} as const;

/** Starts the servers of the peers in `folder`, each as a process. */
export async function startPeers(
  folder: string,
  modelUrl: string,
  resources: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<readonly Peer[]> {
  const peers: Peer[] = [];
  for (const [file, name] of Object.entries(servers)) {
    const environment = { ...process.env, OPENAI_BASE_URL: modelUrl, NODE_ENV: "production" };
    const main = join(folder, "servers", `${file}.mjs`);
    const program = resources.use(new Program([main], { environment, folder }));
    const url = await program.says(/^(http:\S+)/, signal);
    const agent = new Agent({ keepAlive: true });
    resources.defer(() => agent.destroy());
    const isJson = file === "restate";
    peers.push({
      name,
      run: (model, until) => post({ url, agent, isJson, model }, until),
      cpuMs: () => usageOf(program.pid).cpuMs,
    });
  }
  return peers;
}

/** Returns Reeve as one of the peers. Each model is the id of an agent. */
export function reeveAsPeer(system: System, agentOf: (model: string) => string): Peer {
  return {
    name: "Reeve",
    async run(model, signal) {
      await run(system, agentOf(model), signal);
    },
    cpuMs: () => system.usage().cpuMs,
  };
}

interface Sent {
  readonly url: string;
  readonly agent: Agent;
  readonly isJson: boolean;
  readonly model: string;
}

/** Sends a request, and reads the answer to its end. Rejects if there is none. */
function post({ url, agent, isJson, model }: Sent, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { "content-type": isJson ? "application/json" : "text/plain" };
  const sent = request(url, { method: "POST", agent, headers, signal }, (response) => {
    let bytes = 0;
    response.on("data", (part: Uint8Array) => (bytes += part.length));
    response.on("error", reject);
    response.on("end", () => {
      if (response.statusCode === 200 && bytes > 0) resolve();
      else reject(new Error(`${url} answered with ${response.statusCode} and ${bytes} bytes`));
    });
  });
  sent.on("error", reject);
  sent.end(isJson ? JSON.stringify(model) : model);
  return promise;
}
