import { GuardAction } from "@reeve/contracts/run";
import type { GuardSubject } from "../../domain/guardrails/guard-subject.ts";
import type { HookPoint } from "../../domain/plugins/hook-point.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import type { GuardOutcome } from "./check-guards.ts";

/** The bytes of an artifact that guards look at. A larger one stays unchecked. */
const maxArtifactBytes = 512 * 1024;

/** The whole of a result as guards look at it. */
interface WholeResult {
  readonly subject: GuardSubject;
  /** Place of the text of the artifact. Undefined: there is none. */
  readonly artifactAt: number | undefined;
}

/** Returns the whole of a result of which the log has a part, with that part. Undefined: it has the whole, or the rest cannot be read. */
export async function wholeResult(
  state: RunState,
  { call }: HookPoint,
  subject: GuardSubject,
  ports: Pick<RunPorts, "artifacts" | "logger">,
  signal: AbortSignal,
): Promise<WholeResult | undefined> {
  if (subject.target !== "result" || call?.result === undefined) return undefined;
  const artifactId = call.result.metadata?.offloadedArtifactId ?? "";
  if (artifactId === "") {
    return subject.wholeAt === undefined ? undefined : { subject, artifactAt: undefined };
  }
  const text = await textOf(state, artifactId, ports, signal);
  if (text === undefined) return undefined;
  const { texts } = subject;
  return { subject: { ...subject, texts: [...texts, text] }, artifactAt: texts.length };
}

/** Returns what the log has of a result. */
export function partOf({ wholeAt, ...subject }: GuardSubject): GuardSubject {
  return { ...subject, texts: subject.texts.filter((_, index) => index !== wholeAt) };
}

/** Whether guards have looked at a subject. One that stops the run or refuses the subject needs no other. */
export function isChecked({ verdicts }: GuardOutcome): boolean {
  const found = verdicts.some(
    ({ action, problem = "" }) =>
      problem === "" && (action === GuardAction.STOP || action === GuardAction.REFUSE),
  );
  // A model that was called and gave no verdict gives none for less either, and its cost is recorded with the verdict.
  return found || verdicts.every(({ problem = "", usage }) => problem === "" || usage);
}

/** Leaves one redaction of those in a text: nobody reads the text with replacements. */
export function withOneRedaction(outcome: GuardOutcome, place: number | undefined): GuardOutcome {
  const verdicts = outcome.verdicts.map((verdict) => {
    const { redactions = [] } = verdict;
    const first = redactions.findIndex(({ text }) => text === place);
    const kept = redactions.filter(({ text }, index) => text !== place || index === first);
    return { ...verdict, redactions: kept };
  });
  return { ...outcome, verdicts };
}

/** Returns the text of an artifact. Undefined: it is too large, or cannot be read now. */
async function textOf(
  { head: { runId, created } }: RunState,
  artifactId: string,
  { artifacts, logger }: Pick<RunPorts, "artifacts" | "logger">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const tenant = created?.tenant ?? "";
  try {
    const artifact = await artifacts.getStored(tenant, artifactId, signal);
    if (artifact === undefined || artifact.sizeBytes > maxArtifactBytes) return undefined;
    const chunks: Uint8Array[] = [];
    for await (const chunk of artifacts.read(tenant, artifactId, signal)) chunks.push(chunk);
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    signal.throwIfAborted();
    logger.warn({ runId, artifactId, err: error }, "guards could not read the whole of a result");
    return undefined;
  }
}
