import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { RunEventSchema } from "@reeve/contracts/run";
import { RunService, RunStatus, WatchRunResponseSchema } from "@reeve/contracts/run";

/** A field with an unknown number, as on the wire: the text "new". */
const unknownField = {
  no: 4_000,
  wireType: WireType.LengthDelimited,
  data: new Uint8Array([3, ...new TextEncoder().encode("new")]),
};

type EventInit = MessageInitShape<typeof RunEventSchema>;

/**
 * Starts a server with newer contracts than those of all clients: its run has an event of an unknown kind, unknown fields in
 * each message, and a status with an unknown value.
 */
export async function startNewerServer(): Promise<{ readonly url: string } & AsyncDisposable> {
  const handler = connectNodeAdapter({
    routes: (router) =>
      router.service(RunService, {
        startRun: () => ({ run: { runId: "run_newer", $unknown: [unknownField] } }),
        async *watchRun() {
          yield message([{ sequence: 1, event: status(RunStatus.STARTING) }]);
          yield message([{ sequence: 2, $unknown: [unknownField] }]);
          // A value that a later version of the enum may add.
          yield message([{ sequence: 3, event: status(4_000 as RunStatus) }]);
          yield message([{ sequence: 4, event: status(RunStatus.COMPLETED) }], RunStatus.COMPLETED);
        },
      }),
  });
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}

function status(status: RunStatus) {
  return { case: "status", value: { status } } as const;
}

function message(events: readonly EventInit[], endStatus: RunStatus = RunStatus.UNSPECIFIED) {
  const throughSequence = events.at(-1)?.sequence ?? 0;
  const response = create(WatchRunResponseSchema, {
    events: [...events],
    throughSequence,
    endStatus,
  });
  response.$unknown = [unknownField];
  return response;
}
