import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PlayingServer } from "../../../support/playing-server.ts";
import { startPlayingServer } from "../../../support/playing-server.ts";
import { Deployment } from "../deployment.ts";
import { play } from "./play-model.ts";
import type { PushReceiver } from "./push-receiver.ts";
import { startPushReceiver } from "./push-receiver.ts";

/** A deployment that offers the agent `helper` through A2A, and calls it as the remote agent `far`. */
export interface A2ADeployment extends AsyncDisposable {
  readonly deployment: Deployment;
  readonly models: PlayingServer;
  readonly receiver: PushReceiver;
}

export async function startA2ADeployment(): Promise<A2ADeployment> {
  await using starting = new AsyncDisposableStack();
  const receiver = starting.use(await startPushReceiver());
  const models = starting.use(await startPlayingServer(play));
  const folder = mkdtempSync(join(tmpdir(), "reeve-a2a-"));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  const deployment = starting.use(
    await Deployment.start((port) => ({
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: models.url,
      REEVE_TOKENS:
        "test-token-0123456789=acme/tester,viewer-token=acme/eve/viewer,bob-token=acme/bob",
      REEVE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      REEVE_A2A_GRPC: `127.0.0.1:${port}`,
      REEVE_A2A_REMOTES: remotesFile(folder, port),
      FAR_TOKEN: "test-token-0123456789",
      REEVE_A2A_CARD_KEY_FILE: cardKeyFile(folder),
      REEVE_A2A_PUSH: receiver.url,
      REEVE_A2A_PUSH_ADDRESSES: "127.0.0.1",
    })),
  );
  await createAgents(deployment);
  const resources = starting.move();
  return {
    deployment,
    models,
    receiver,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Returns the address of an agent of a deployment for A2A. */
export function addressOf({ url }: Deployment, agent: string): string {
  return `${url}/a2a/agents/${agent}/`;
}

async function createAgents(deployment: Deployment): Promise<void> {
  const endpointOf = (agent: string) => ({ url: addressOf(deployment, agent), protocol: "a2a" });
  const a2a = { enabled: true, description: "Does what it is told." };
  await deployment.agent("helper", {
    model: "openai:played",
    a2a,
    questions: {},
    hitlTools: ["write_file"],
    media: { imageModel: "openai:painter" },
  });
  await deployment.agent("hidden", { model: "openai:played" });
  await deployment.agent("far", { model: "", endpoint: endpointOf("helper") });
  await deployment.agent("short", { model: "openai:played", a2a, budgets: { maxLlmCalls: 1 } });
  await deployment.agent("far-short", { model: "", endpoint: endpointOf("short") });
  await deployment.agent("lost", { model: "", endpoint: endpointOf("nobody") });
  await deployment.agent("lead", { model: "openai:played", delegates: ["far"] });
}

function cardKeyFile(folder: string): string {
  const path = join(folder, "card.pem");
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }));
  return path;
}

/** Permits the runtime to call the agents of its own deployment, which is on this host. */
function remotesFile(folder: string, port: number): string {
  const path = join(folder, "remotes.yaml");
  const here = `{ name: here, url: "http://127.0.0.1:${port}/a2a/agents/", token_env: FAR_TOKEN, allow_addresses: [127.0.0.1] }`;
  writeFileSync(path, `remotes:\n  - ${here}\n`);
  return path;
}
