import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { SMTPServerOptions } from "smtp-server";
import { SMTPServer } from "smtp-server";

/** A mail server that keeps what it receives. */
export interface MailServer extends AsyncDisposable {
  readonly port: number;
  readonly mails: readonly string[];
}

/** Starts a mail server without TLS on a port of this machine; 0 is any free one. */
export async function startMailServer(
  port: number,
  options: SMTPServerOptions = {},
): Promise<MailServer> {
  const mails: string[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        mails.push(Buffer.concat(chunks).toString());
        done();
      });
    },
    ...options,
  });
  // Clients that break their connections are expected.
  smtp.on("error", () => undefined);
  const server = smtp.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    [Symbol.asyncDispose]: () => new Promise((closed) => smtp.close(() => closed())),
  };
}
