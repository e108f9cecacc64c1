import { create } from "@bufbuild/protobuf";
import { assertReads } from "@reeve/agent/resolve/assert-reads";
import { resolveAgent, starterOf, toolContextOf } from "@reeve/agent/resolve/resolve-agent";
import { CheckedRule } from "@reeve/contracts/queue";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { Message } from "@reeve/contracts/thread";
import { MessageSchema, Role } from "@reeve/contracts/thread";
import { invalidRequest } from "@reeve/platform/strict/assert-valid";
import type { RunHead } from "@reeve/run/head/run-head";
import { textBytesOf } from "@reeve/run/parts/part-note";
import { assertChecked } from "@reeve/run/policy/runtime-checks";
import type { GatewayPorts } from "../gateway-ports.ts";
import type { CheckedParts, PartsKey } from "./check-parts.ts";
import { checkParts } from "./check-parts.ts";

/** What a message with parts needs, beside the log of its run. */
export type PartsPorts = Pick<
  GatewayPorts,
  "log" | "artifacts" | "artifactQuotas" | "assertRoom" | "holders" | "offer" | "policy"
>;

interface PartsToSend {
  readonly text: string;
  readonly parts: readonly ContentPart[];
  /** Throws a Failure if the run does not take the message. */
  check(message: Message): void;
}

/** The maximum total size of the text of a message, in bytes. */
const maxTextBytes = 262_144;

/**
 * Checks the parts of a new message to a run. Returns them as the log records them, with the files that came with it. Nothing is stored. Throws a
 * Failure if the run does not take the message.
 */
export async function partsToSend(
  ports: PartsPorts,
  key: PartsKey,
  head: RunHead,
  { text, parts, check }: PartsToSend,
  signal: AbortSignal,
): Promise<CheckedParts> {
  const checked = await checkParts(ports.artifacts, key, { field: "parts", parts }, signal);
  const violations = [...checked.violations, ...textViolations(text, parts)];
  if (violations.length > 0) throw invalidRequest(violations);
  check(create(MessageSchema, { role: Role.USER, text, parts: [...checked.parts] }));
  assertRunReads(ports, head, checked);
  await assertChecked(ports.holders, [CheckedRule.CONTENT_PARTS], signal);
  ports.assertRoom();
  return checked;
}

function textViolations(text: string, parts: readonly ContentPart[]) {
  const bytes = textBytesOf({ text, parts: [...parts] });
  if (bytes <= maxTextBytes) return [];
  const description = `have ${bytes} bytes of text with the message; the limit is ${maxTextBytes}`;
  return [{ field: "parts", description, reason: "TOO_LARGE" }];
}

/** Throws a Failure if a model of the run does not read a file, as the deployment offers its models now. */
function assertRunReads(
  { offer, policy }: PartsPorts,
  { created }: RunHead,
  { files }: CheckedParts,
): void {
  if (created?.spec === undefined || files.length === 0) return;
  const context = toolContextOf(created, policy(), starterOf(created));
  assertReads(resolveAgent(created.spec, offer(), context), files);
}
