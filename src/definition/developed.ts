/** Whether `mayfly dev` runs a server. */

/** `mayfly dev` sets it to 1. A request cannot: its `Host` may say localhost anywhere. */
const DEV_VARIABLE = 'MAYFLY_DEV'

/** Whether `mayfly dev` has started this server. */
export function isDev(env: unknown): boolean {
  return typeof env === 'object' && env !== null && Reflect.get(env, DEV_VARIABLE) === '1'
}
