/** Hosts that a server on this machine may be addressed by, unless the environment says others; its guard refuses the rest (DNS rebinding). */
export function devAllowedHosts(): string {
  return process.env.MAYFLY_ALLOWED_HOSTS ?? 'localhost,127.0.0.1,[::1]'
}
