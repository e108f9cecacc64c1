import { ReeveError } from "@reeve/client";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";

/** Sends a message to a run that has not ended. */
export function sendCommand(context: Context): Command {
  const command = new Command("send")
    .description("Send a message to a run that has not ended. The model reads it at its next step.")
    .argument("<run>", "id of the run")
    .argument("<text>", "text of the message; - reads standard input");
  return command.action((runId: string, text: string) =>
    withClient(context, command, async (reeve) => {
      const message = text === "-" ? await context.terminal.read() : text;
      await reeve.sendMessage(runId, message, context).catch((error: unknown) => {
        if (error instanceof ReeveError && error.reason === "RUN_ENDED") {
          const again = `${context.reeve} run AGENT TEXT --thread THREAD`;
          context.terminal.note(`to continue the conversation of its thread, run: ${again}\n`);
        }
        throw error;
      });
      context.terminal.out(`sent to ${runId}\n`);
    }),
  );
}
