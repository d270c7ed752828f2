/**
 * Run as `host.ts <bundle> <what is asked>`: loads a built server and works on the store of its API keys. Prints one line of JSON. A new key
 * is not known here, only its hash: this process runs code of the user.
 */
import { pathToFileURL } from 'node:url'
import { memberOf, textOf } from '../../src/definition/error-text.ts'
import type { Audience, AudienceStore } from '../../src/keys/audience.ts'
import { serverIn } from '../doctor/server-in.ts'
import { type Asked, perform, type Told } from './request.ts'

export interface HostAnswer extends Told {
  /** Why nothing was done, in one line. */
  readonly refusal?: string
  /** The variable that has the keys: nothing was done. */
  readonly variable?: { readonly name: string; readonly audience: Audience }
}

const [, , file = '', text = ''] = process.argv
const bundle = (await import(pathToFileURL(file).href)) as { readonly default: unknown }
const answer = await answered(JSON.parse(text) as Asked)
process.stdout.write(`\n${JSON.stringify(answer)}\n`, () => process.exit(0))

async function answered(asked: Asked): Promise<HostAnswer> {
  try {
    const server = serverIn(bundle.default)
    // A server of `fromSdk` or `fromNode` describes nothing else.
    const open = memberOf(server?.getDeploymentInfo?.(process.env) ?? server, 'keyStore')
    if (typeof open !== 'function')
      return { refusal: 'its "auth" has no keys: use apiKeys({ store }) of mayfly-mcp/keys' }
    const store = open(process.env) as AudienceStore
    if (store.variable !== undefined) return { variable: { name: store.variable, audience: store.audience } }
    if (store.isLocal) return { refusal: 'its keys are in the memory of the server: use another store' }
    return await perform(asked, store)
  } catch (error) {
    return { refusal: textOf(error).replaceAll(/\s+/g, ' ') }
  }
}
