import { keepSession, signIn } from "../api/session.ts";

/** Asks whether the token of the opened address replaces the session of this tab. */
export function ReplaceSession({ offered }: { readonly offered: string }) {
  return (
    <main className="sign-in">
      <div className="sign-in-card" role="alertdialog" aria-labelledby="replace-session">
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1 id="replace-session">Use another session in this tab?</h1>
        <p>
          The address that was opened here contains another token than the one you are signed in
          with. With it, you work as the owner of that token. Use it only if you know who made the
          address.
        </p>
        <button type="button" className="button primary" autoFocus onClick={keepSession}>
          Keep my session
        </button>
        <button type="button" className="button" onClick={() => signIn(offered)}>
          Use the other token
        </button>
      </div>
    </main>
  );
}
