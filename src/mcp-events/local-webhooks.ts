/** Webhooks of this machine: the option `allowLoopback` allows them, and `mayfly dev` does, where it serves this machine alone. */
import { isDev } from '../definition/developed.ts'
import { isLoopbackAddress } from '../request/address.ts'

/** Learns from the `env` of requests and runs who has started the server. */
export type AllowsLoopback = (env?: unknown) => boolean

/** @param say Called once, if `mayfly dev` allows them. */
export function createAllowsLoopback(isAllowed: boolean, say: () => void): AllowsLoopback {
  let allows = isAllowed
  return (env) => {
    if (!allows && isDev(env) && isForThisMachine(env)) {
      allows = true
      say()
    }
    return allows
  }
}

/** Through a tunnel, strangers could have the services of this machine called: it has a host of its own. */
function isForThisMachine(env: unknown): boolean {
  const hosts: unknown = Reflect.get(env as object, 'MAYFLY_ALLOWED_HOSTS')
  return typeof hosts === 'string' && hosts.split(',').every((host) => isLoopbackAddress(host.trim()))
}
