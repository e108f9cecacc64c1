import { declineOffer, signIn } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";

/** Asks whether the token of the opened address is used: in place of the session of this tab, if there is one. */
export function OfferedSession({ token }: { readonly token: string }) {
  const isSignedIn = useSession().token !== undefined;
  return (
    <main className="sign-in">
      <div className="sign-in-card" role="alertdialog" aria-labelledby="offered-session">
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1 id="offered-session">
          {isSignedIn ? "Use another session in this tab?" : "Sign in with this address?"}
        </h1>
        <p>
          {isSignedIn
            ? "The address that was opened here contains another token than the one you are signed in with."
            : "The address that was opened here contains a token."}{" "}
          With it, you work as the owner of that token, who can read what you enter. Use it only if
          you know who made the address: for example, <code>npm start</code> printed it.
        </p>
        {isSignedIn ? (
          <>
            <button type="button" className="button primary" autoFocus onClick={declineOffer}>
              Keep my session
            </button>
            <button type="button" className="button" onClick={() => signIn(token)}>
              Use the other token
            </button>
          </>
        ) : (
          <>
            <button type="button" className="button primary" onClick={() => signIn(token)}>
              Sign in with it
            </button>
            <button type="button" className="button" autoFocus onClick={declineOffer}>
              Do not sign in
            </button>
          </>
        )}
      </div>
    </main>
  );
}
