import { expect, test } from "vitest";
import { served } from "./support/served.ts";

// The protocol would parse such a message without the limits on its values.
test.each([2, 3, 0x80, 0xff])(
  "a message in an envelope with the flags %i, which no protocol has, is refused unread",
  async (flags) => {
    await using bench = await served({ startRun: () => ({ run: { runId: "started" } }) });
    const envelope = Buffer.alloc(5 + 120_000, Buffer.from([0x22, 0]));
    envelope.writeUInt8(flags);
    envelope.writeUInt32BE(envelope.length - 5, 1);
    const response = await fetch(`${bench.server.url}/reeve.run.v1.RunService/StartRun`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto" },
      body: envelope,
    });
    const trailers = await response.text();
    expect(trailers).toContain("grpc-status: 3");
    expect(decodeURIComponent(trailers)).toContain(`has the flags ${flags}`);
  },
);
