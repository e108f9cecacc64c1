import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A receiver of push notifications on this host. */
export interface PushReceiver extends Disposable {
  readonly url: string;
  /** The notifications so far. */
  readonly pushed: readonly { readonly token: unknown; readonly text: string }[];
}

export async function startPushReceiver(): Promise<PushReceiver> {
  const pushed: { readonly token: unknown; readonly text: string }[] = [];
  const receiver = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const piece of request) text += String(piece);
      pushed.push({ token: request.headers["x-a2a-notification-token"], text });
      response.end();
    })();
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  // A TCP listener has an address and a port.
  const { port } = receiver.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    pushed,
    [Symbol.dispose]: () => void receiver.close(),
  };
}
