/** Checks that the tools, prompts and resources that `anonymous` names exist: a misspelt name would open nothing, or the wrong one. */
import { nearest } from '../definition/unknown-option.ts'
import type { NamedParts } from './auth.ts'
import type { GateOptions } from './gate-options.ts'

const KINDS = ['tools', 'prompts', 'resources'] as const

/** @throws TypeError naming the first name that the server does not have; for a tool, `warn` is called instead if it is given. */
export function checkOpenNames(
  open: GateOptions['anonymous'],
  parts: NamedParts,
  warn?: (message: string) => void,
): void {
  if (open === undefined) return
  const names = namesIn(parts)
  for (const kind of KINDS) {
    const known = names[kind]
    const unknown = known && open[kind]?.find((name) => !known.includes(name))
    if (unknown === undefined) continue
    const message = missing('anonymous', kind, unknown, known!)
    if (kind !== 'tools' || warn === undefined) throw new TypeError(message)
    warn(message)
  }
}

/** By kind; undefined if callbacks answer. */
function namesIn({ tools, prompts, resources }: NamedParts): {
  [kind in (typeof KINDS)[number]]: readonly string[] | undefined
} {
  return {
    tools: [...tools.keys()],
    prompts: prompts && (prompts.callbacks ? undefined : [...prompts.declared.keys()]),
    resources:
      resources &&
      (resources.callbacks
        ? undefined
        : [...resources.fixed.keys(), ...resources.templates.map(({ config }) => config.uriTemplate)]),
  }
}

/** What is wrong with a name that a server does not have. */
export function missing(
  option: 'anonymous' | 'scopes',
  kind: (typeof KINDS)[number],
  name: string,
  known: readonly string[],
): string {
  const near = nearest(name, known)
  const remedy = near === undefined ? 'remove it.' : `did you mean "${near}"?`
  return `"${option}.${kind}" names "${name}", but this server has no such ${kind.slice(0, -1)}: ${remedy}`
}
