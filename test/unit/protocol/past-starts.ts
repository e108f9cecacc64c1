import { create } from "@bufbuild/protobuf";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import { key, never } from "./play.ts";
import type { ProtocolWorld } from "./protocol-world.ts";

/** The only call of a run. */
const onlyCall: CallKey = { ...key, call: `${key.run}-6-0` };

/** Records that toolhosts which are gone had started the call of a run, before the world begins. */
export async function startedBefore(
  world: ProtocolWorld,
  hosts: readonly string[],
): Promise<ProtocolWorld> {
  let tail = emptyTail;
  for (const host of hosts) {
    const journal = world.journal.of({ name: host, isAlive: true, learned: "" });
    const started = { case: "started", value: { host, requestSequence: 1n } } as const;
    const fact = create(ToolCallFactSchema, { fact: started });
    const appended = await journal.append(onlyCall, tail, [fact], never());
    if (appended.kind === "appended") ({ tail } = appended);
  }
  return world;
}
