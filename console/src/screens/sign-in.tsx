import { useEffect, useState } from "react";
import { signIn } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { ProviderButton } from "../sign-in/provider-button.tsx";
import type { SignInSettings } from "../sign-in/sign-in-settings.ts";
import { readSignInSettings } from "../sign-in/sign-in-settings.ts";

/**
 * Asks who the person is: the provider of the deployment does, if it has one, or the person enters a token. The token is kept in this tab
 * only, and sent to this server only.
 */
export function SignIn() {
  const { problem } = useSession();
  const settings = useSignInSettings();
  const [token, setToken] = useState("");
  const onSubmit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    if (token.trim() !== "") signIn(token.trim());
  };
  // Shown when it is known what it asks, so that nothing moves.
  if (settings === undefined) return <main className="sign-in" aria-busy="true" />;
  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={onSubmit}>
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>Sign in to Reeve</h1>
        {problem !== undefined && (
          <p className="problem-line" role="alert">
            {problem}
          </p>
        )}
        {settings !== "none" && (
          <>
            <ProviderButton settings={settings} />
            <p className="muted">or with a token of an operator:</p>
          </>
        )}
        <label className="field">
          <span>Token</span>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <button
          type="submit"
          className={`button ${settings === "none" ? "primary" : ""}`}
          disabled={token.trim() === ""}
        >
          Sign in
        </button>
        <p className="hint">
          <code>npm start</code> prints an address that signs you in, and keeps the token in{" "}
          <code>.reeve/token</code>. Elsewhere, an operator issues tokens. The token stays in this
          tab and is forgotten when you close it.
        </p>
      </form>
    </main>
  );
}

/** Undefined while it is read. */
function useSignInSettings(): SignInSettings | "none" | undefined {
  const [settings, setSettings] = useState<SignInSettings | "none">();
  useEffect(() => {
    const leaving = new AbortController();
    void (async () => {
      const read = await readSignInSettings(leaving.signal);
      if (!leaving.signal.aborted) setSettings(read ?? "none");
    })();
    return () => leaving.abort();
  }, []);
  return settings;
}
