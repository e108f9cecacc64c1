import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { UploadArtifactResponseSchema } from "@reeve/contracts/artifact";

/** Starts a file server that begins a response and then stalls, on uploads or only on downloads. */
export async function startStallingServer(
  at: "upload" | "download",
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer().listen(0, "127.0.0.1");
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    stream.resume();
    const isUpload = headers[":path"]?.endsWith("/UploadArtifact") === true;
    stream.respond(
      { ":status": 200, "content-type": "application/grpc" },
      { waitForTrailers: true },
    );
    if (!isUpload || at === "upload") return void stream.write("");
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(framed());
  });
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

/** Returns the response to an upload in gRPC framing: an uncompressed message with its length. */
function framed(): Buffer {
  const artifact = { artifactId: "art_1", name: "a.txt" };
  const message = toBinary(
    UploadArtifactResponseSchema,
    create(UploadArtifactResponseSchema, { artifact }),
  );
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
