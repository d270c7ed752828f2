/** Environment variables that a local server gets by default. */
import { STAGE_VARIABLE } from '../../src/definition/stage.ts'

/** Says that a developer runs the server: a stand-in may then ask who somebody is, while no identity provider is set up. */
export const DEVELOPED = { MAYFLY_DEV: '1' } as const

/** Variables by name. */
export function localVariables(): { readonly [name: string]: string } {
  const stage = process.env[STAGE_VARIABLE]
  return {
    // Of `--stage`: before that of a file.
    ...(stage && { [STAGE_VARIABLE]: stage }),
    // Host names that it accepts; its guard refuses others (DNS rebinding).
    MAYFLY_ALLOWED_HOSTS: process.env.MAYFLY_ALLOWED_HOSTS ?? 'localhost,127.0.0.1,[::1]',
    ...DEVELOPED,
    // On the developer's machine every request is logged.
    MAYFLY_LOG: process.env.MAYFLY_LOG ?? 'all',
  }
}
