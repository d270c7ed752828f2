/** The list of tools, with the limits of a client and its models. */
import { isA } from '../../../src/definition/error-text.ts'
import { isObject } from '../../../src/definition/is-object.ts'
import type { ListTools } from '../clients/profile.ts'
import { isAdvertised } from '../lists.ts'
import type { JsonObject } from '../messages.ts'
import { degrades, hint, type Outcome, Stop, skipped, untried, works, wrong } from '../outcome.ts'
import { readPages, TOOLS } from '../pages.ts'
import { quote } from '../safe-text.ts'
import { rootUnion } from '../tool-schemas.ts'
import { type Stepped, stopped, type Trail } from './trail.ts'

export async function listTools(step: ListTools, { endpoint }: Trail): Promise<Stepped> {
  try {
    if (endpoint.contact.isLocked)
      return {
        outcome:
          endpoint.wire.options.bearer === undefined
            ? untried('needs a token', 'pass one with --bearer-env')
            : untried('the given token is refused', 'pass a token that is not expired, for this server'),
      }
    if (!isAdvertised(endpoint, endpoint.era, TOOLS.capability))
      return { outcome: skipped('none are advertised') }
    const { items, fault } = await readPages(endpoint, endpoint.era, TOOLS)
    return { outcome: fault ?? judge(step, items) }
  } catch (error) {
    if (isA(error, Stop)) return { outcome: stopped(error) }
    throw error
  }
}

function judge(
  { names, refusal, refusesRootUnions, max, annotations }: ListTools,
  items: readonly JsonObject[],
): Outcome {
  const refuse = refusal === 'wrong' ? wrong : degrades
  const odd = names && items.find(({ name }) => !names.pattern.test(String(name)))
  if (odd !== undefined)
    return refuse(`it refuses the name ${quote(odd.name)}`, `name tools with ${names?.rule}`)
  const union = refusesRootUnions ? items.find(({ inputSchema }) => rootUnion(inputSchema)) : undefined
  if (union !== undefined)
    return refuse(
      `its models refuse the input schema of ${quote(union.name)}: ${rootUnion(union.inputSchema)} at the root`,
      'describe an object at the root, and put the alternatives into its properties',
    )
  if (max !== undefined && items.length > max)
    return hint(
      `${items.length} tools: it accepts ${max}, including those of other servers`,
      'combine tools, or serve them in groups at different URLs',
    )
  const unmarked = annotations && items.find((tool) => !hasAll(tool, annotations))
  return unmarked === undefined
    ? works(`${items.length}`)
    : hint(
        `${quote(unmarked.name)} lacks some of the annotations ${annotations?.join(', ')}: it treats the tool as one that writes`,
        'describe the tool in its annotations; with Mayfly, mcp: { annotations: { … } } of the tool',
      )
}

function hasAll({ annotations }: JsonObject, names: readonly string[]): boolean {
  return isObject(annotations) && names.every((name) => typeof annotations[name] === 'boolean')
}
