/** Projects of `mayfly init` take half a minute each: those of a few targets, or of all with `npm run test:every-target`. */

const SOME = new Set(['cloudflare', 'deno', 'lambda', 'node'])

/** Of these targets, those that are tested after each change. */
export function someTargets(names: Iterable<string>): string[] {
  const all = [...names]
  return process.env.MAYFLY_EVERY_TARGET === '1' ? all : all.filter((name) => SOME.has(name))
}

export const isEveryTarget: boolean = process.env.MAYFLY_EVERY_TARGET === '1'
