import type { Client } from "@reeve/client";
import { toJsonString } from "@bufbuild/protobuf";
import { ReceiptKeySchema } from "@reeve/contracts/receipt";
import { envelopeText } from "@reeve/run/receipts/envelope";
import { Command, InvalidArgumentError } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { saveFile, saveNewFile } from "../../files/save-file.ts";
import { table } from "../../render/table.ts";

/** Requests signed receipts, and the public keys that verify them. */
export function receiptCommands(context: Context): readonly Command[] {
  return [receiptCommand(context), keysCommand(context)];
}

interface CallOfRun {
  readonly runId: string;
  readonly callId: string;
}

function receiptCommand(context: Context): Command {
  const command = new Command("receipt")
    .description(
      "Request the signed receipt of a call that a person decided on: who asked, what, who decided, and what came of it. `verify` checks it.",
    )
    .argument("<call>", "id of the call, or of an approval of it", parseCall)
    .option("-o, --output <path>", "file to create; default: standard output")
    .option("--force", "replace an existing file")
    .option(
      "--omit-content",
      "leave arguments, questions, and answers out; digests of arguments and answers stay",
    );
  interface Options extends OutputOptions {
    readonly omitContent?: true;
  }
  return command.action(({ runId, callId }: CallOfRun, { omitContent, ...to }: Options) =>
    withClient(context, command, async (reeve) => {
      const { signal } = context;
      const options = { omitContent: omitContent === true, signal };
      const envelope = await reeve.receipts.get(runId, callId, options);
      await write(`${envelopeText(envelope)}\n`, to, context);
    }),
  );
}

function keysCommand(context: Context): Command {
  const command = new Command("receipt-keys")
    .description(
      "List the public keys that verify receipts: the one that signs, then earlier ones.",
    )
    .option("--pem", "print the keys in PEM, as `verify --key` reads them")
    .option("-o, --output <path>", "file to create; default: standard output")
    .option("--force", "replace an existing file")
    .option("--json", "print one key per line as JSON");
  interface Options extends OutputOptions {
    readonly pem?: true;
    readonly json?: true;
  }
  return command.action(({ pem, json, ...to }: Options) =>
    withClient(context, command, async (reeve) => {
      const keys = await reeve.receipts.keys(context);
      if (keys.length === 0) context.terminal.note("this deployment issues no receipts\n");
      const format = pem === true ? "pem" : json === true ? "json" : "table";
      await write(rendered(keys, format), to, context);
    }),
  );
}

type Keys = Awaited<ReturnType<Client["receipts"]["keys"]>>;

function rendered(keys: Keys, format: "pem" | "json" | "table"): string {
  switch (format) {
    case "pem":
      return keys.map(({ publicKeyPem }) => publicKeyPem).join("");
    case "json":
      return keys.map((key) => `${toJsonString(ReceiptKeySchema, key)}\n`).join("");
    case "table":
      return table(
        ["KEY", "USE"],
        keys.map(({ keyId, isSigning }) => [keyId, isSigning ? "signs" : "verifies"]),
      );
  }
}

/** Parses the id of a call or of an approval: both begin with the id of the run. */
function parseCall(text: string): CallOfRun {
  const [, callId, runId] =
    /^((run_[a-z0-9]{8,64})-\d+-\d+)(?:-r\d+)?(?:-q\d+-\d+)?$/.exec(text) ?? [];
  if (callId !== undefined && runId !== undefined) return { runId, callId };
  throw new InvalidArgumentError("Use the id of a call, as `approvals --all` shows it.");
}

interface OutputOptions {
  readonly output?: string;
  readonly force?: true;
}

/** Writes a text to the file of the options, or to standard output. */
async function write(
  text: string,
  { output, force }: OutputOptions,
  { terminal, signal }: Context,
): Promise<void> {
  if (output === undefined) {
    terminal.out(text);
    return;
  }
  const save = force === true ? saveFile : saveNewFile;
  await save(chunksOf(text), output, signal);
  terminal.out(`${output}\n`);
}

async function* chunksOf(text: string): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}
