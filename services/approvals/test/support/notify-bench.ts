import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ApprovalSchema } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openRunLog } from "@reeve/jetstream/log/open";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { programFile } from "@reeve/platform/test/support/program-file";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { expect } from "vitest";
import type { TestProcess } from "./child-process.ts";
import { startProcess } from "./child-process.ts";

/** Lets a process follow the clock of the bench. */
const steppedClock = join(import.meta.dirname, "../../../../test/chaos/stepped-clock.ts");
const log = createLogger("test", "silent");
const never = new AbortController().signal;
let runs = 0;

/** A NATS server, the file of REEVE_NOTIFY, and processes of approvals. */
export interface NotifyBench extends AsyncDisposable {
  readonly folder: string;
  /** Sets how far the clocks of approvals are ahead, also while they run. */
  setClock(aheadMs: number): void;
  /** Returns a notice on the bus by its sequence, from 1. Undefined: there is none. */
  notice(sequence: number): Promise<StoredNotice | undefined>;
  /** Starts approvals in a process of its own. */
  startApprovals(): Promise<TestProcess & { readonly url: string }>;
  /** Creates a run of `acme` that is parked with a pending approval. Returns its id. */
  park(approval?: MessageInitShape<typeof ApprovalSchema>): Promise<string>;
  append(run: string, ...facts: readonly ExternalFact[]): Promise<void>;
  /** Returns how many notifications are queued. */
  queued(): Promise<number>;
}

/** A notice on the bus. */
interface StoredNotice {
  readonly subject: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

interface StoredMessage {
  readonly subject: string;
  readonly hdrs: string;
  readonly data: string;
}

function noticeIn({ subject, hdrs, data }: StoredMessage): StoredNotice {
  const lines = Buffer.from(hdrs, "base64").toString().split("\r\n").slice(1);
  const headers = lines
    .filter((line) => line !== "")
    .map(
      (line) =>
        [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()] as const,
    );
  return { subject, headers: new Map(headers), body: Buffer.from(data, "base64").toString() };
}

interface StoreAnswer {
  readonly config?: object;
  readonly state?: { readonly messages: number };
}

/** Opens a bench. `settings` returns the text of the file of REEVE_NOTIFY; `environment` is added to that of approvals. */
export async function openNotifyBench(
  settings: (folder: string) => string,
  environment: NodeJS.ProcessEnv = {},
): Promise<NotifyBench> {
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "reeve-notify-"));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  const storeDir = join(folder, "store");
  const server = starting.use(await startNatsServer({ storeDir, log }, never));
  const nats = starting.use(await connectNats(server.url, { name: "test", log }, never));
  const runLog = await openRunLog(nats);
  const file = join(folder, "notify.yaml");
  writeFileSync(file, settings(folder));
  const processes = starting.use(new AsyncDisposableStack());
  const resources = starting.move();
  const append = async (run: string, ...facts: readonly ExternalFact[]) => {
    const key = { tenant: "acme", run };
    const { tail } = await runLog.read(key, emptyTail, never);
    const time = timestampFromMs(Date.now());
    const events = facts.map((event, index) =>
      create(RunEventSchema, { runId: run, sequence: tail.sequence + 1 + index, time, event }),
    );
    const outcome = await runLog.append(key, tail, events, never);
    if (outcome.kind === "conflict") throw new Error(`another writer appended to ${run}`);
  };
  const ask = async (request: string): Promise<StoreAnswer> =>
    (await nats.connection.request(`$JS.API.${request}`)).json<StoreAnswer>();
  const clockFile = join(folder, "clock");
  return {
    folder,
    setClock: (aheadMs) => writeFileSync(clockFile, String(aheadMs)),
    async notice(sequence) {
      const request = JSON.stringify({ seq: sequence });
      const reply = await nats.connection.request(
        "$JS.API.STREAM.MSG.GET.APPROVAL_NOTICES",
        request,
      );
      const { message } = reply.json<{ readonly message?: StoredMessage }>();
      return message && noticeIn(message);
    },
    append,
    async startApprovals() {
      const env = {
        ...process.env,
        ...environment,
        REEVE_NATS_URL: server.url,
        REEVE_APPROVALS_LISTEN: "127.0.0.1:0",
        REEVE_INTERNAL_TOKEN: "internal-token-of-a-test",
        REEVE_ACK_WAIT_MS: "1000",
        REEVE_NOTIFY: file,
        REEVE_PUBLIC_URL: "https://reeve.example.com",
        CHAOS_CLOCK_FILE: clockFile,
      };
      const command = [
        process.execPath,
        "--import",
        steppedClock,
        programFile("approvals"),
      ] as const;
      const started = processes.use(await startProcess(command, env, "notifications start"));
      // What the log had before the first process followed it has no notifications.
      await expect.poll(() => ask("CONSUMER.INFO.RUNS.approvals-notify")).toHaveProperty("config");
      const url =
        /"url":"([^"]+)"[^}]*"approvals listens"/.exec(started.lines.join("\n"))?.[1] ?? "";
      return { ...started, url };
    },
    async park(approval = {}) {
      const run = `run_${String(++runs).padStart(8, "0")}`;
      const approvalId = `${run}-2-0`;
      const pending = { approvalId, runId: run, state: ApprovalState.PENDING, ...approval };
      await append(
        run,
        { case: "runCreated", value: { tenant: "acme" } },
        { case: "approval", value: { approval: pending } },
        { case: "runParked", value: { waitingFor: [approvalId] } },
      );
      return run;
    },
    async queued() {
      const { state } = await ask("STREAM.INFO.NOTIFICATIONS");
      return state?.messages ?? 0;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Returns a port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
