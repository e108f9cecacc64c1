import type { Interceptor } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";

/** What requests need of the session of a tab. */
interface SessionPort {
  /** The token of the session. Undefined: nobody is signed in. */
  token(): string | undefined;
  /** Returns the token that replaces one which the server refuses. Undefined: there is none. */
  replace(refused: string): Promise<string | undefined>;
  end(reason: string): void;
}

/** How many tokens of a session may be refused in a row before it ends: a server that accepts none would have each stream begin again for ever. */
const maxRefused = 3;

/**
 * Adds the token of the session to requests. One that the server does not know, or knows no more, is renewed once, as after the computer
 * slept; if that fails, the session ends. A stream whose token ends before it does fails with `aborted` if the session has another token for
 * the same person: its reader begins it again.
 */
export function authorized(session: SessionPort): Interceptor {
  /** The tokens that were refused since one was accepted. */
  const refused = new Set<string>();
  const end = (token: string | undefined, error: ConnectError): ConnectError => {
    // The session may have another token by now.
    if (session.token() === token) {
      session.end(`The server does not accept this token, or it has ended: ${error.rawMessage}`);
    }
    return error;
  };
  /** Returns the next token. Throws if the error is no refusal of the token, or the session cannot be renewed. */
  const afterRefusal = async (thrown: unknown, token: string | undefined): Promise<string> => {
    const error = ConnectError.from(thrown);
    if (error.code !== Code.Unauthenticated) throw thrown;
    if (token !== undefined) refused.add(token);
    const isLast = token === undefined || refused.size > maxRefused;
    const next = isLast ? undefined : await session.replace(token);
    if (next === undefined) throw end(token, error);
    return next;
  };
  const endStream = async (thrown: unknown, token: string | undefined): Promise<never> => {
    await afterRefusal(thrown, token);
    throw new ConnectError("the session was renewed; begin the stream again", Code.Aborted);
  };
  async function* untilRefused<Message>(messages: AsyncIterable<Message>, token?: string) {
    try {
      for await (const message of messages) {
        refused.clear();
        yield message;
      }
    } catch (thrown) {
      await endStream(thrown, token);
    }
  }
  return (next) => async (request) => {
    const token = session.token();
    try {
      const response = await next(withToken(request, token));
      if (!response.stream) {
        refused.clear();
        return response;
      }
      return { ...response, message: untilRefused(response.message, token) };
    } catch (thrown) {
      if (request.stream) return await endStream(thrown, token);
      const renewed = await afterRefusal(thrown, token);
      try {
        return await next(withToken(request, renewed));
      } catch (again) {
        const error = ConnectError.from(again);
        throw error.code === Code.Unauthenticated ? end(renewed, error) : again;
      }
    }
  };
}

function withToken<Request extends { readonly header: Headers }>(
  request: Request,
  token: string | undefined,
): Request {
  if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
  return request;
}
