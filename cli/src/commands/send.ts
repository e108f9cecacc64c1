import type { Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { collectPaths, uploadAttachments } from "../files/attachments.ts";
import { quoted } from "../reeve-command.ts";

/** Sends a message to a run that has not ended. */
export function sendCommand(context: Context): Command {
  const command = new Command("send")
    .description("Send a message to a run that has not ended. The model reads it at its next step.")
    .argument("<run>", "id of the run")
    .argument("<text>", "text of the message; - reads standard input")
    .option(
      "--attach <path>",
      "send an image, a PDF, or audio to the model (repeatable)",
      collectPaths,
    );
  interface Options {
    readonly attach?: readonly string[];
  }
  return command.action((runId: string, text: string, { attach = [] }: Options) =>
    withClient(context, command, async (reeve) => {
      const message = text === "-" ? await context.terminal.read() : text;
      const parts = await uploadAttachments(reeve, attach, context);
      const { signal } = context;
      await reeve.sendMessage(runId, message, { signal, parts }).catch(async (error: unknown) => {
        if (error instanceof ReeveError && error.reason === "RUN_ENDED") {
          await noteEnded(reeve, runId, context);
        }
        throw error;
      });
      context.terminal.out(`sent to ${runId}\n`);
    }),
  );
}

/** Says how to go on after a run that has ended: in its thread, if it has one. */
async function noteEnded(
  reeve: Pick<Client, "getRun">,
  runId: string,
  { terminal, signal, reeve: command }: Context,
): Promise<void> {
  const { agentId, threadId } = await reeve.getRun(runId, { signal });
  const again = `${command} run ${quoted(agentId)} TEXT`;
  terminal.note(
    threadId === ""
      ? `to start another run, run: ${again}\n`
      : `to continue the conversation of its thread, run: ${again} --thread ${quoted(threadId)}\n`,
  );
}
