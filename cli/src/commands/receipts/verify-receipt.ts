import { toJson } from "@bufbuild/protobuf";
import { CallReceiptSchema } from "@reeve/contracts/receipt";
import { maxEnvelopeBytes } from "@reeve/run/receipts/envelope";
import { parseVerifyingKeys } from "@reeve/run/receipts/receipt-keys";
import type { Context } from "../../context.ts";
import type { ExitCode } from "../../exit-code.ts";
import { exitCodes } from "../../exit-code.ts";
import { exportedBatches } from "../../files/exported-log.ts";
import { readSmallFile } from "../../files/small-file.ts";
import { escapeUnsafe, oneLine } from "../../render/plain-text.ts";
import { renderReceipt } from "../../render/receipts/receipt.ts";
import type { Proof } from "./prove-receipt.ts";
import { proveReceipt } from "./prove-receipt.ts";

const maxKeyBytes = 1024 * 1024;

export interface VerifyReceiptOptions {
  /** The file with the public keys, in PEM. */
  readonly key: string;
  /** The file with the exported log of the run, from which the receipt is computed again. */
  readonly log?: string | undefined;
  readonly json: boolean;
}

/** Verifies a receipt without a server, and prints what it proves. `-` reads standard input. */
export async function verifyReceipt(
  { terminal }: Pick<Context, "terminal">,
  path: string,
  { key, log, json }: VerifyReceiptOptions,
): Promise<ExitCode> {
  const keys = parseVerifyingKeys(await readSmallFile(key, maxKeyBytes), key);
  const text = path === "-" ? await terminal.read() : await readSmallFile(path, maxEnvelopeBytes);
  const batches = log === undefined ? undefined : exportedBatches(log);
  const proof = await proveReceipt(text, keys, batches);
  terminal.out(json ? jsonOf(proof) : textOf(proof, path));
  return proof.kind === "verified" ? exitCodes.ok : exitCodes.altered;
}

function textOf(proof: Proof, path: string): string {
  const lines =
    proof.kind === "verified"
      ? [
          ...renderReceipt(proof.receipt),
          ...proof.notes,
          `verified: unaltered, and signed by key ${proof.keyId}`,
        ]
      : [...proof.problems.map((problem) => oneLine(problem, 1_000)), `NOT VERIFIED: ${path}`];
  return `${lines.join("\n")}\n`;
}

function jsonOf({ kind, ...found }: Proof): string {
  const receipt =
    "receipt" in found ? { receipt: toJson(CallReceiptSchema, found.receipt) } : undefined;
  const shown = { verified: kind === "verified", ...found, ...receipt };
  return `${escapeUnsafe(JSON.stringify(shown))}\n`;
}
