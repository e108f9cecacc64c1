import type { ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolCallRequest, ToolResult, ToolSettings } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openToolCallQueue } from "@reeve/jetstream/queue/nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { startToolhostProcess } from "@reeve/toolhost/test/support/toolhost-process";
import { factsUntilEnd, keyOf, resultOf } from "@reeve/toolhost/test/support/toolhost";
import type { DriverName } from "./driver-name.ts";

/** How large a published file may be there. */
export const maxArtifactBytes = 8_000_000;

/** A toolhost as a process of its own, with a NATS of its own, and a secret in its environment. */
export interface AttackedToolhost {
  readonly process: ChildProcess;
  readonly journal: CallJournal;
  /** Calls a tool in the workspace of a run, and gives what the model would read. */
  call(name: string, args: JsonObject, options?: CallOptions): Promise<ToolResult>;
  /** Has Python prepare something in the workspace. Throws what it complains of. */
  prepare(runId: string, code: string): Promise<void>;
  /** Sends a request without waiting for its result. */
  send(name: string, args: JsonObject, options?: CallOptions): Promise<ToolCallRequest>;
}

export interface CallOptions {
  readonly runId?: string;
  readonly settings?: Partial<Pick<ToolSettings, "readOnly" | "codeTimeout">>;
}

export async function startAttackedToolhost(
  { sandbox, canary }: { readonly sandbox: DriverName; readonly canary: string },
  resources: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<AttackedToolhost> {
  const log = createLogger("test", "silent");
  const folder = await mkdtemp(join(tmpdir(), "reeve-attacked-"));
  // Attacks nest folders deeper than Node can take away.
  resources.defer(() => void execFileSync("rm", ["-rf", folder]));
  await chmod(folder, 0o711);
  const server = resources.use(
    await startNatsServer({ storeDir: join(folder, "nats"), log }, signal),
  );
  const nats = resources.use(await connectNats(server.url, { name: "test", log }, signal));
  const journal = await openCallJournal(nats);
  const queue = await openToolCallQueue(nats, { pool: "default", ackWaitMs: 1_000 });
  const settings = {
    REEVE_CANARY: canary,
    OPENAI_API_KEY: canary,
    REEVE_MAX_ARTIFACT_BYTES: String(maxArtifactBytes),
  };
  const process = await startToolhostProcess(
    { natsUrl: server.url, folder, sandbox, settings },
    resources,
  );
  let calls = 0;
  const send: AttackedToolhost["send"] = async (
    name,
    args,
    { runId = "run_1", settings: asked } = {},
  ) => {
    const callId = `${runId}-${++calls}-0`;
    const request = create(ToolCallRequestSchema, {
      tenant: "acme",
      runId,
      call: { callId, name, arguments: args },
      workspace: { id: runId },
      ...(asked && { settings: asked }),
    });
    await queue.publish(request, { dedupeId: callId }, signal);
    return request;
  };
  const call: AttackedToolhost["call"] = async (name, args, options) =>
    resultOf(await factsUntilEnd(journal, keyOf(await send(name, args, options)), signal));
  return {
    process,
    journal,
    send,
    call,
    prepare: async (runId, code) => {
      const command = ["python3", "-I", "-c", code];
      const { isError, content } = await call("run_command", { command }, { runId });
      if (isError) throw new Error(`the attack could not be prepared: ${content}`);
    },
  };
}
