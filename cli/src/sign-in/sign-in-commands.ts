import { steadyClock } from "@reeve/platform/async/clock";
import { readDiscovery, secureUrl } from "@reeve/platform/oidc/discovery";
import { fetchJson } from "@reeve/platform/oidc/fetch-json";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-code.ts";
import { plainText } from "../render/plain-text.ts";
import type { ServerOptions } from "../server-address.ts";
import { serverAddress } from "../server-address.ts";
import type { Verification } from "./device-flow.ts";
import { signInByDevice } from "./device-flow.ts";
import type { SignIn } from "./stored-sign-ins.ts";
import { whoamiCommand } from "./whoami.ts";
import { configFolder, StoredSignIns } from "./stored-sign-ins.ts";

interface LoginOptions extends ServerOptions {
  readonly issuer?: string;
  readonly clientId?: string;
  readonly scope?: string;
  readonly audience?: string;
  readonly resource?: string;
}

/** The commands with which a person signs in at the identity provider of a server, and out again. */
export function signInCommands(context: Context): readonly Command[] {
  return [loginCommand(context), logoutCommand(context), whoamiCommand(context)];
}

function loginCommand({ terminal, environment, signal }: Context): Command {
  const command = new Command("login");
  return command
    .description(
      "Sign in at an identity provider. Other commands then use the token for the same server, and renew it when it expires.",
    )
    .option("--issuer <url>", "the OpenID Connect provider (default: that of the last sign-in)")
    .option("--client-id <id>", "the name of this program at the provider")
    .option("--scope <scopes>", "requested scopes (default: openid offline_access)")
    .option("--audience <name>", "requested audience, for providers that need this parameter")
    .option("--resource <uri>", "requested resource, for providers that need this parameter")
    .action(async () => {
      const options = command.optsWithGlobals<LoginOptions>();
      const { url } = serverAddress(options, environment);
      const signIns = new StoredSignIns(configFolder(environment));
      const target = targetOf(options, url, signIns.get(url));
      if (!secureUrl.safeParse(url).success) {
        terminal.note(
          `warning: commands send tokens to ${url} unencrypted, so that others on the network can read them; use https://\n`,
        );
      }
      const show = ({ uri, code }: Verification) =>
        terminal.note(`open ${plainText(uri)} and confirm the code ${plainText(code)}\n`);
      const tokens = await signInByDevice({ ...target, clock: steadyClock, show }, signal);
      await using _ = await signIns.lock(signal);
      signIns.put(url, { ...target, ...tokens });
      terminal.note(`signed in at ${target.issuer} for ${url}\n`);
    });
}

function logoutCommand({ terminal, environment, signal }: Context): Command {
  const command = new Command("logout");
  return command
    .description("Forget the sign-in for a server, and revoke its token at the provider.")
    .action(async () => {
      const { url } = serverAddress(command.optsWithGlobals<ServerOptions>(), environment);
      const signIns = new StoredSignIns(configFolder(environment));
      await using _ = await signIns.lock(signal);
      const stored = signIns.get(url);
      if (stored === undefined) {
        terminal.note(`not signed in for ${url}\n`);
        return;
      }
      // First: the token is gone from this machine, whatever the provider answers.
      signIns.put(url, undefined);
      const isRevoked = await revoke(stored, signal).catch(() => false);
      signal.throwIfAborted();
      const rest = isRevoked
        ? ""
        : `; ${stored.issuer} did not revoke it, so it ends when it expires`;
      terminal.note(`signed out for ${url}${rest}\n`);
    });
}

/** Revokes the token that renews others (RFC 7009). Returns whether the provider did. */
async function revoke(
  { issuer, clientId, refreshToken, accessToken }: SignIn,
  signal: AbortSignal,
): Promise<boolean> {
  const { revocation_endpoint: endpoint } = await readDiscovery(issuer, signal);
  if (endpoint === undefined) return false;
  const body = new URLSearchParams({ client_id: clientId, token: refreshToken ?? accessToken });
  const { status } = await fetchJson(endpoint, { method: "POST", body }, signal);
  return status === 200;
}

/** Returns where to sign in: what the options say, and what they leave out as in the last sign-in. */
function targetOf(
  options: LoginOptions,
  url: string,
  last: SignIn | undefined,
): Pick<SignIn, "issuer" | "clientId" | "parameters"> {
  const { issuer = last?.issuer, clientId = last?.clientId, scope, audience, resource } = options;
  if (issuer === undefined || clientId === undefined) {
    throw new UsageError(
      `this is the first sign-in for ${url}; give --issuer and --client-id, which the operator of the server knows`,
    );
  }
  const problem = secureUrl.safeParse(issuer).error?.issues[0]?.message;
  if (problem !== undefined) throw new UsageError(`--issuer ${issuer} ${problem}`);
  const given = { scope, audience, resource };
  const parameters = {
    scope: "openid offline_access",
    ...last?.parameters,
    ...Object.fromEntries(
      Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
  return { issuer, clientId, parameters };
}
