/** Environment variables that a local server gets by default. */

/** Variables by name. */
export function localVariables(): { readonly [name: string]: string } {
  return {
    // Host names that it accepts; its guard refuses others (DNS rebinding).
    MAYFLY_ALLOWED_HOSTS: process.env.MAYFLY_ALLOWED_HOSTS ?? 'localhost,127.0.0.1,[::1]',
    // On the developer's machine every request is logged.
    MAYFLY_LOG: process.env.MAYFLY_LOG ?? 'all',
  }
}
