import type { Run } from "@reeve/client";
import type { StoredRunBatch } from "@reeve/contracts/run";
import type { VerifiedLog } from "@reeve/engine/verify/verify-run-log";
import { statusName } from "@reeve/run/head/run-status";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { exitCodes, UsageError } from "../exit-code.ts";

export function verifyCommand(context: Context): Command {
  const command = new Command("verify")
    .description(
      "Verify that the log of a run, or a receipt, is unaltered. Of a log, checks the chain of its digests, the order of its events, and its end; folds it again; and compares the result with the server's views of the run. Of a receipt, checks the signature, without a server, and prints what it proves.",
    )
    .argument("<run-or-receipt>", "id of the run, or file of the receipt; - reads standard input")
    .option("--key <file>", "for a receipt: file of public keys that `receipt-keys --pem` printed")
    .option("--log <file>", "for a receipt: log that `export` wrote; must give the same receipt")
    .option(
      "--expect <digest>",
      "digest that an earlier verification printed; the log must contain it",
    )
    .option("--json", "print the result as JSON")
    .addHelpText("after", limits);
  interface Options {
    readonly expect?: string;
    readonly key?: string;
    readonly log?: string;
    readonly json?: true;
  }
  return command.action(async (runId: string, { expect, key, log, json }: Options) => {
    if (key !== undefined) {
      if (expect !== undefined) throw new UsageError("--expect is about the log of a run");
      const options = { key, log, json: json === true };
      // Loaded only now, so that other commands start faster.
      const { verifyReceipt } = await import("./receipts/verify-receipt.ts");
      context.exitCode = await verifyReceipt(context, runId, options);
      return;
    }
    if (log !== undefined || !runId.startsWith("run_")) throw new UsageError(keyMissing);
    const expected = expect?.toLowerCase() ?? "";
    if (expect !== undefined && !/^[0-9a-f]{64}$/.test(expected)) {
      throw new UsageError("--expect takes a digest of 64 hexadecimal digits");
    }
    await withClient(context, command, async (reeve) => {
      const batches: StoredRunBatch[] = [];
      let subject = "";
      let indexed: Run | undefined;
      for await (const part of reeve.exportRunLog(runId, context)) {
        batches.push(...part.batches);
        ({ subject } = part);
        indexed ??= part.indexedRun;
      }
      const current = batches.length === 0 ? undefined : await reeve.getRun(runId, context);
      const { verifyRunLog } = await import("@reeve/engine/verify/verify-run-log");
      const verified = verifyRunLog(runId, { subject, batches, indexed, current }, expected);
      context.terminal.out(json === true ? asJson(verified) : render(verified));
      return verified.problems.length === 0 ? exitCodes.ok : exitCodes.altered;
    });
  });
}

const keyMissing =
  "a receipt is verified with --key and the public keys of its deployment: `reeve receipt-keys --pem` prints them";

const limits = `
The digests have no key. They show any partial change: a flipped byte, a missing or moved batch. Somebody who can write to
the store can replace the whole log and compute all digests again. To detect that, keep the head digest elsewhere, and pass
it with --expect.`;

function render(verified: VerifiedLog): string {
  const { runId, status, batches, events, chainedFrom, headDigest, headSequence } = verified;
  const lines = [
    `${runId}: ${events} events in ${batches} batches, ${statusName(status) || "without a status"}`,
    chainedFrom === 0
      ? "chain:  none, because the log has no digests"
      : `chain:  from sequence ${chainedFrom} to ${headSequence}`,
    `head:   ${headDigest}`,
    ...verified.problems.map(
      ({ kind, sequence, message }) => `${kind} at sequence ${sequence}: ${message}`,
    ),
    verified.problems.length === 0 ? "verified: no problem found" : "NOT VERIFIED",
  ];
  return `${lines.join("\n")}\n`;
}

function asJson(verified: VerifiedLog): string {
  return `${JSON.stringify({ ...verified, status: statusName(verified.status) })}\n`;
}
