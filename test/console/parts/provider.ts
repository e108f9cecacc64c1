import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";

/** Signing in with the OpenID Connect provider of the deployment. */
export function describeProvider(fixture: () => ConsoleFixture): void {
  test("leads to the provider, back to the screen that was asked for, and keeps nothing but the token", async () => {
    await using shown = await fixture().openPlain("/agents?create=true");
    const { page } = shown;
    const leave = page.getByRole("button", { name: "Continue with 127.0.0.1" });
    await leave.waitFor();
    await expectAccessible(page);
    await leave.click();
    await signInAtProvider(page, "olga");
    await page.getByText("olga · acme").waitFor();
    expect(page.url()).toBe(`${fixture().deployment.url}/agents?create=true`);
    expect(await keptBy(page)).toEqual(["reeve.token"]);
    await page.reload();
    await page.getByText("olga · acme").waitFor();
    // The pages of the provider have no icon, which the browser reports.
    expect(shown.problems.filter((text) => !text.includes("404"))).toEqual([]);
  });

  test("says why the server refuses somebody whom the provider knows", async () => {
    await using shown = await fixture().openPlain("/runs");
    const { page } = shown;
    await page.getByRole("button", { name: "Continue with 127.0.0.1" }).click();
    await signInAtProvider(page, "otto");
    await page.getByText("otto of tenant acme has no role").first().waitFor();
    expect(await page.getByRole("heading", { name: "Runs" }).count()).toBe(1);
  });

  test("takes no answer that this tab did not ask for, and shows why the provider refused", async () => {
    await using shown = await fixture().openPlain("/sign-in?code=stolen&state=other");
    const { page } = shown;
    await page.getByText("was not begun in this tab").waitFor();
    expect(page.url()).toBe(`${fixture().deployment.url}/sign-in`);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Back to the sign-in" }).click();
    await page.getByRole("button", { name: "Continue with 127.0.0.1" }).click();
    await page.getByRole("link", { name: "[ Cancel ]" }).click();
    await page.getByText("did not sign you in: access_denied").waitFor();
    expect(await keptBy(page)).toEqual([]);
  });

  test("may send requests to the provider and to no other server", async () => {
    const answer = await fetch(fixture().deployment.url, { headers: { accept: "text/html" } });
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain(`connect-src 'self' ${fixture().issuer};`);
    const settings = await fetch(`${fixture().deployment.url}/console/sign-in.json`);
    expect(await settings.json()).toEqual({
      issuer: fixture().issuer,
      clientId: "reeve-console",
      scope: "openid",
      parameters: {},
    });
  });
}

/** Returns what the page keeps in this tab, without the scroll positions of the router. */
function keptBy(page: Page): Promise<unknown> {
  return page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('reeve.'))");
}

/** Signs a person in on the pages of the provider, which asks for a name, any password, and consent. */
async function signInAtProvider(page: Page, person: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(person);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}
