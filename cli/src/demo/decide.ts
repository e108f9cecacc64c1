import type { Approval, Client } from "@reeve/client";
import type { Context } from "../context.ts";
import type { Terminal } from "../terminal.ts";

/** Who decides an approval: a person at the terminal, or an option of the command. */
export type DecisionMode = "ask" | "approve" | "reject";

/** Decides an approval of the demo. */
export async function decide(
  context: Pick<Context, "terminal" | "signal">,
  reeve: Client,
  { approvalId, call }: Approval,
  mode: DecisionMode,
): Promise<void> {
  const { terminal, signal } = context;
  const approved =
    mode === "ask"
      ? await confirm(`    approve ${call?.name ?? "the call"}? [y/n] `, terminal, signal)
      : mode === "approve";
  const reason = approved ? "" : "rejected by a person";
  await reeve.decide({ approvalId, approved, reason }, { signal });
}

async function confirm(
  question: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const answer = (await terminal.ask(question, signal)).trim().toLowerCase();
    if (answer === "y" || answer === "yes") return true;
    if (answer === "n" || answer === "no") return false;
  }
}
