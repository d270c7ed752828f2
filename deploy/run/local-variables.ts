/** What a server that runs on this machine is told by its environment, unless it says otherwise. */

/** Variables by name. */
export function localVariables(): { readonly [name: string]: string } {
  return {
    // Hosts that it may be addressed by; its guard refuses the rest (DNS rebinding).
    MAYFLY_ALLOWED_HOSTS: process.env.MAYFLY_ALLOWED_HOSTS ?? 'localhost,127.0.0.1,[::1]',
    // Each request is shown on the developer's own machine.
    MAYFLY_LOG: process.env.MAYFLY_LOG ?? 'all',
  }
}
