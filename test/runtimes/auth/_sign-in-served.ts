/** Serves an entry whose people sign in with a real `oidc-provider`, which is started beside it. */
import type { Target } from '../../../deploy/contract/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { testPort } from '../../_port.ts'
import { startOpenIdProvider } from '../../unit/sign-in/_provider.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'

export interface ServedSignIn extends ServedArtefact {
  /** Where people sign in. */
  readonly issuer: string
}

export interface SignInServedOptions {
  /** With these variables. Default: Node. */
  readonly target?: (env: { readonly [name: string]: string }) => Pick<Target, 'build' | 'preview'>
  readonly env?: { readonly [name: string]: string }
  /** Where the platform's configuration is; `entry` is relative to it. */
  readonly cwd?: string
}

export async function serveSignIn(entry: string, options: SignInServedOptions = {}): Promise<ServedSignIn> {
  const { target = (given) => withEnv(node, given), env = {}, cwd } = options
  // Each of the two has to know where the other is.
  const port = await testPort()
  const ISSUER = `http://127.0.0.1:${port}`
  const served = await serveArtefact(entry, target({ ...env, ISSUER }), cwd)
  const redirectUri = new URL('/oauth/callback', served.url).href
  const provider = await startOpenIdProvider({ port, redirectUri })
  const stop = async (): Promise<void> => {
    await served.stop()
    await provider[Symbol.asyncDispose]()
  }
  return { ...served, issuer: ISSUER, stop }
}
