/**
 * The transports of the official SDKs, which are optional. Imported through constants that bundlers do not follow: otherwise every
 * bundle would contain them. `mayfly build` adds them to bundles that use them.
 */
const STREAMABLE = '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'

type Streamable = typeof import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js')

export const loadStreamable = (): Promise<Streamable> => import(STREAMABLE).catch(missing(STREAMABLE))

function missing(specifier: string) {
  return (cause: unknown): never => {
    const [scope, name] = specifier.split('/')
    const version = name === 'sdk' ? ' 1.25 or newer' : ''
    throw new Error(`This needs ${scope}/${name}${version}: npm install ${scope}/${name}`, { cause })
  }
}
