import { ClientCallState } from "@reeve/contracts/run";
import { PlayedRun } from "./run-player.ts";

/** Returns a run with two calls of a client: nobody takes one, and a person answers the other while the run is parked. */
export function recordedClientCalls(): PlayedRun {
  const source = "client:page";
  const tools = [
    { name: "show", source, client: { timeout: { seconds: 30n } } },
    { name: "pick", source, client: { timeout: { seconds: 60n }, answeredByPerson: true } },
  ];
  const run = new PlayedRun({}, { tools }).turn({ name: "show" }, { name: "pick" });
  const [show = "", pick = ""] = run.frame().calls.map(({ call }) => call.callId);
  const { TAKEN, ANSWERED, EXPIRED } = ClientCallState;
  const client = { clientId: "page", subject: "ann" };
  run.write({ case: "clientCall", value: { callId: show, state: EXPIRED } });
  run.parks();
  run.write({ case: "clientCall", value: { callId: pick, state: TAKEN, ...client } });
  const answer = { content: '{"color":"red"}', structured: { color: "red" } };
  run.write({
    case: "clientCall",
    value: { callId: pick, state: ANSWERED, ...client, ...answer },
  });
  return run.claimedAnew().says("It is red.").turn();
}
