import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { OidcStore } from "./oidc-store.ts";

/** The audience of the tokens. */
export const audience = "reeve";
/** A client for people at a terminal. It has no secret. */
export const cliClient = "reeve-cli";
/** A client for people in a browser, who are led back to any port of loopback. It has no secret. */
export const consoleClient = "reeve-console";
/** A client that is a program. */
export const program = { id: "nightly", secret: "secret-of-the-nightly-program" } as const;

/** An OpenID Connect provider on loopback. Everybody may sign in, with any password. */
export interface OidcServer extends AsyncDisposable {
  readonly issuer: string;
  /** Replaces the key. Tokens that it signed are no longer valid, and sign-ins continue. */
  rotateKey(): Promise<void>;
}

/** Starts it. `groups` has the groups of people and programs. */
export async function startOidcServer(
  groups: Readonly<Record<string, readonly string[]>>,
): Promise<OidcServer> {
  let handle: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;
  const server = createServer((request, response) => void handle?.(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server has an address and a port.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = new OidcStore();
  const rotateKey = async () => {
    handle = (await openProvider(issuer, groups, store)).callback();
  };
  await rotateKey();
  return {
    issuer,
    rotateKey,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}

async function openProvider(
  issuer: string,
  groups: Readonly<Record<string, readonly string[]>>,
  store: OidcStore,
): Promise<Provider> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const resource = {
    scope: "",
    audience,
    accessTokenTTL: 600,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg: "ES256" } },
  } as const;
  return new Provider(issuer, {
    adapter: store.open,
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "ES256", use: "sig" }] },
    cookies: { keys: ["a-key-for-cookies"] },
    clients: [
      {
        client_id: cliClient,
        token_endpoint_auth_method: "none",
        application_type: "native",
        id_token_signed_response_alg: "ES256",
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: consoleClient,
        token_endpoint_auth_method: "none",
        application_type: "native",
        id_token_signed_response_alg: "ES256",
        grant_types: ["authorization_code"],
        redirect_uris: ["http://127.0.0.1/sign-in"],
        response_types: ["code"],
      },
      {
        client_id: program.id,
        client_secret: program.secret,
        id_token_signed_response_alg: "ES256",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: {
      deviceFlow: { enabled: true },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "urn:reeve",
        useGrantedResource: () => true,
        getResourceServerInfo: () => resource,
      },
    },
    clientBasedCORS: (_, __, { clientId }) => clientId === consoleClient,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_, token) => {
      const name = "accountId" in token ? token.accountId : token.clientId;
      return { groups: groups[name ?? ""] ?? [] };
    },
  });
}

/** Signs a person in, as a browser does: opens `url`, and sends each form until there is none. Returns the last page. */
export async function signIn(url: string, person: string): Promise<string> {
  const cookies = new Map<string, string>();
  const request = async (to: string, body?: URLSearchParams): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(to, {
      redirect: "manual",
      headers: { cookie },
      ...(body !== undefined && { method: "POST", body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    return location === null ? response : await request(new URL(location, to).href);
  };
  let response = await request(url);
  for (;;) {
    const page = await response.text();
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
    if (action === undefined) return page;
    const fields = new URLSearchParams({ login: person, password: "any" });
    for (const [input] of page.matchAll(/<input[^>]*>/g)) {
      const [, name] = / name="([^"]*)"/.exec(input) ?? [];
      const [, value] = / value="([^"]*)"/.exec(input) ?? [];
      if (name !== undefined && value !== undefined) fields.set(name, value);
    }
    response = await request(new URL(action, response.url).href, fields);
  }
}

/** Returns a token of the program. */
export async function tokenOfProgram(issuer: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${program.id}:${program.secret}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  return token;
}
