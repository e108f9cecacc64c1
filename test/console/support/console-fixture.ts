import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { buildConsole } from "@reeve/cli/embedded/ensure-console";
import { parseSigningKey } from "@reeve/run/receipts/receipt-keys";
import type { Browser } from "playwright-core";
import { Deployment } from "../../system/support/deployment.ts";
import { eventOf, watchToEnd } from "../../system/support/watching.ts";
import { audience, consoleClient, startOidcServer } from "../../support/oidc-server.ts";
import { startPlayingServer } from "../../support/playing-server.ts";
import { missingBrowser, openBrowser } from "./open-browser.ts";
import type { WatchedPage } from "./open-page.ts";
import { openPage } from "./open-page.ts";
import { play } from "./play.ts";

/** The model that answers as `play` says. */
export const playedModel = "openai:played";
/** The played model reads pictures. */
const registry = "models: [{ id: played, provider: openai, modalities: [text, image] }]";
export const viewer = "viewer-token-0123456789";
/** Of the person who starts the runs, without the role approver. */
export const runner = "runner-token-0123456789";
/** Of a person who approves, and is not an operator. */
export const approver = "approver-token-0123456789";

const pictures = process.env["REEVE_WRITE_PICTURES"] === "1";

export const receiptKey: ReturnType<typeof parseSigningKey> = parseSigningKey(
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  "the key",
);

interface Parts {
  readonly deployment: Deployment;
  readonly browser: Browser;
  readonly issuer: string;
}

/** A deployment with the console, and a browser. */
export class ConsoleFixture implements AsyncDisposable {
  readonly deployment: Deployment;
  /** The provider at which people sign in. */
  readonly issuer: string;
  readonly #browser: Browser;
  readonly #resources: AsyncDisposableStack;

  private constructor({ deployment, browser, issuer }: Parts, resources: AsyncDisposableStack) {
    this.deployment = deployment;
    this.issuer = issuer;
    this.#browser = browser;
    this.#resources = resources;
  }

  static async start(): Promise<ConsoleFixture> {
    if (missingBrowser !== undefined) throw new Error(missingBrowser);
    const problem = await buildConsole(() => undefined, new AbortController().signal);
    if (problem !== undefined) throw new Error(problem);
    await using resources = new AsyncDisposableStack();
    const browser = await openBrowser();
    resources.defer(() => browser.close());
    const models = resources.use(await startPlayingServer(play));
    const oidc = resources.use(await startOidcServer({ olga: ["people"], otto: [] }));
    const folder = mkdtempSync(join(tmpdir(), "reeve-console-"));
    resources.defer(() => rmSync(folder, { recursive: true, force: true }));
    const keyFile = join(folder, "key.pem");
    const oidcFile = join(folder, "oidc.json");
    const oidcConfig = {
      issuer: oidc.issuer,
      audience,
      tenant: "acme",
      roles: { people: ["runner"] },
      console: { client_id: consoleClient },
    };
    writeFileSync(oidcFile, JSON.stringify(oidcConfig));
    writeFileSync(keyFile, receiptKey.privateKey.export({ type: "pkcs8", format: "pem" }));
    const deployment = resources.use(
      await Deployment.start(
        (port) => ({
          OPENAI_API_KEY: "sk-test",
          OPENAI_BASE_URL: models.url,
          REEVE_RECEIPT_KEY_FILE: keyFile,
          REEVE_PUBLIC_URL: `http://localhost:${port}`,
          REEVE_OIDC_CONFIG: oidcFile,
          REEVE_AUDIT_TENANT: "acme",
          REEVE_TOKENS: `test-token-0123456789=acme/tester,${viewer}=acme/vera/viewer,${runner}=acme/tester/runner,${approver}=acme/paula/approver`,
        }),
        { REEVE_MODELS: registry },
      ),
    );
    await deployment.agent("helper", { model: playedModel });
    await deployment.agent("waiter", { model: playedModel, questions: {} });
    await deployment.agent("payer", {
      model: playedModel,
      hitlTools: ["add_todo"],
      approvalPolicy: { allowEditedArguments: true },
    });
    await deployment.agent("two-payers", {
      model: playedModel,
      hitlTools: ["add_todo"],
      approvalPolicy: { alternatives: [{ name: "two", approvals: 2, denials: 2 }] },
    });
    const stepUp = { tools: ["add_todo"] };
    await deployment.agent("passkey-payer", {
      model: playedModel,
      hitlTools: ["add_todo"],
      approvalPolicy: { stepUp },
    });
    await deployment.agent("passkey-voters", {
      model: playedModel,
      hitlTools: ["add_todo"],
      approvalPolicy: { stepUp, alternatives: [{ name: "two", approvals: 2, denials: 2 }] },
    });
    return new ConsoleFixture({ deployment, browser, issuer: oidc.issuer }, resources.move());
  }

  /** The address of the console with the host name at which browsers offer passkeys without https. */
  get passkeySite(): string {
    return this.deployment.url.replace("127.0.0.1", "localhost");
  }

  async started(input: string, agentId = "helper", labels = {}): Promise<string> {
    const { run } = await this.deployment.reeve.runs.startRun({ agentId, input, labels });
    return run?.runId ?? "";
  }

  async finished(...run: Parameters<typeof this.started>): Promise<string> {
    const runId = await this.started(...run);
    await watchToEnd(this.deployment, runId);
    return runId;
  }

  /** Starts a run that pays somebody. Returns the id of the approval for which it waits. */
  async waiting(agentId: string): Promise<string> {
    const runId = await this.started("Pay ann.", agentId);
    const { event } = await eventOf(this.deployment, runId, "approval");
    return event.case === "approval" ? (event.value.approval?.approvalId ?? "") : "";
  }

  /** Opens the address of a screen with a token, which a new tab does not use before it is told to. */
  openLink(
    path: string,
    theme?: "light" | "dark",
    token = this.deployment.token,
    site = this.deployment.url,
  ): Promise<WatchedPage> {
    return openPage(this.#browser, `${site}${path}#token=${token}`, theme);
  }

  /** Opens a screen as somebody who has not signed in. */
  openPlain(path: string): Promise<WatchedPage> {
    return openPage(this.#browser, `${this.deployment.url}${path}`);
  }

  /** Opens a screen as somebody who has signed in. */
  async open(...link: Parameters<typeof this.openLink>): Promise<WatchedPage> {
    const shown = await this.openLink(...link);
    await shown.page.getByRole("button", { name: "Sign in with it" }).click();
    return shown;
  }

  /** Writes the picture of a screen for the documentation, if that was asked for. */
  async picture({ page }: WatchedPage, name: string): Promise<void> {
    if (!pictures) return;
    await page.setViewportSize({ width: 1120, height: 700 });
    // In the second frame, what depends on the size has been drawn again.
    await page.evaluate(
      "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
    );
    const path = join(import.meta.dirname, `../../../docs/pictures/${name}.png`);
    await page.screenshot({ path });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]();
  }
}
