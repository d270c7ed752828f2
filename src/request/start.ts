/** What an adapter checks before a long-lived process listens. */
import type { FetchServer } from './platform.ts'

/**
 * Called once, when a process starts that serves until it ends: a deployment that lacks a variable then fails at once, and not for one
 * caller in the middle of the night. Platforms that start a process for each request do not call it, and serve the other callers.
 *
 * @throws TypeError in one line for what `auth` lacks in `env`, such as the token of one caller that is not set.
 */
export function requireVariables(server: FetchServer, env: unknown): void {
  const info = server.getDeploymentInfo?.(env) as { readonly authFault?: string } | undefined
  if (info?.authFault !== undefined) throw new TypeError(`auth: ${info.authFault}`)
}
