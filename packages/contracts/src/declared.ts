import type { DescMessage } from "@bufbuild/protobuf";
import { hasOption } from "@bufbuild/protobuf";
import * as a2a from "./extensions/a2a.ts";
import * as agent from "./agent.ts";
import * as approval from "./approval.ts";
import * as archive from "./coordination/archive.ts";
import * as artifact from "./artifact.ts";
import * as audit from "./audit.ts";
import { bucket, channel } from "./bus.ts";
import * as knowledge from "./extensions/knowledge.ts";
import * as memory from "./memory.ts";
import * as notification from "./notification.ts";
import * as passkey from "./passkey.ts";
import * as projection from "./coordination/projection.ts";
import * as queue from "./coordination/queue.ts";
import * as quota from "./coordination/quota.ts";
import * as sealing from "./coordination/sealing.ts";
import * as reserve from "./coordination/reserve.ts";
import * as run from "./run.ts";
import * as runExistence from "./coordination/run-existence.ts";
import * as sweeper from "./coordination/sweeper.ts";
import * as thread from "./thread.ts";
import * as tool from "./tool.ts";
import * as toolhost from "./toolhost.ts";
import * as workerPresence from "./coordination/worker-presence.ts";
import * as trigger from "./coordination/trigger.ts";

const messages = [
  a2a,
  agent,
  approval,
  archive,
  artifact,
  audit,
  knowledge,
  memory,
  notification,
  passkey,
  projection,
  queue,
  quota,
  sealing,
  reserve,
  run,
  runExistence,
  sweeper,
  thread,
  tool,
  toolhost,
  workerPresence,
  trigger,
]
  .flatMap((declarations): readonly unknown[] => Object.values(declarations))
  .filter(isMessage);

/** All messages that declare a channel. */
export const messagesWithChannel = messages.filter((message) => hasOption(message, channel));

/** All messages that declare a key-value bucket. */
export const messagesWithBucket = messages.filter((message) => hasOption(message, bucket));

function isMessage(declaration: unknown): declaration is DescMessage {
  return (
    typeof declaration === "object" &&
    declaration !== null &&
    "kind" in declaration &&
    declaration.kind === "message"
  );
}
