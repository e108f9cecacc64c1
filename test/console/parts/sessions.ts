import { expect, test } from "vitest";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { viewer } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";

/** Signing in and out. */
export function describeSessions(fixture: () => ConsoleFixture): void {
  test("removes the token of the address at once, and signs in with it after a question", async () => {
    await using shown = await fixture().openLink("/");
    const { page } = shown;
    await page.getByRole("heading", { name: "Sign in with this address?" }).waitFor();
    expect(page.url()).toBe(`${fixture().deployment.url}/`);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Sign in with it" }).click();
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    expect(page.url()).toBe(`${fixture().deployment.url}/runs`);
    expect(await page.evaluate("localStorage.length + document.cookie.length")).toBe(1);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").fill("wrong-token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("does not accept this token").waitFor();
    await expectAccessible(page);
  });

  test("loads a part of itself again whose request failed", async () => {
    await using shown = await fixture().openLink("/");
    const { page } = shown;
    const failed = new Set<string>();
    await page.route("**/assets/*", (route) => {
      const url = route.request().url();
      if (failed.has(url)) return route.continue();
      failed.add(url);
      return route.abort("connectionreset");
    });
    await page.getByRole("button", { name: "Sign in with it" }).waitFor();
    await page.evaluate("void (window.isSamePage = true)");
    await page.getByRole("button", { name: "Sign in with it" }).click();
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    expect([...failed].some((url) => url.includes("/runs-screen-"))).toBe(true);
    expect(await page.evaluate("isSamePage")).toBe(true);
  });

  test("does not sign in with the token of an address if the answer is no", async () => {
    await using shown = await fixture().openLink("/models");
    const { page } = shown;
    await page.getByRole("button", { name: "Do not sign in" }).click();
    await page.getByLabel("Token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("asks before the token of an address replaces the session, and forgets it if the answer is no", async () => {
    await using shown = await fixture().open("/");
    const { page } = shown;
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    const used = () => page.evaluate("sessionStorage.getItem('reeve.token')");
    const follow = async (path: string, token: string) => {
      await page.goto(`${fixture().deployment.url}${path}#token=${token}`);
      await page.getByRole("heading", { name: "Use another session" }).waitFor();
      expect(page.url()).toBe(`${fixture().deployment.url}${path}`);
      expect(await used()).toBe(fixture().deployment.token);
    };
    // The same page, then another one.
    await follow("/runs", viewer);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Keep my session" }).click();
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    expect(await used()).toBe(fixture().deployment.token);
    await follow("/models", viewer);
    await page.getByRole("button", { name: "Use the other token" }).click();
    await page.getByRole("heading", { name: "Models" }).waitFor();
    expect(await used()).toBe(viewer);
    await page.getByText("vera · acme").waitFor();
    await page.goto(`${fixture().deployment.url}/audit#token=${viewer}`);
    await page.getByRole("heading", { name: "Audit" }).waitFor();
    expect(page.url()).toBe(`${fixture().deployment.url}/audit`);
  });
}
