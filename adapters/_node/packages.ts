/**
 * The official SDKs' transports, which only those install who use them. By constants that bundlers do not follow: a program that only
 * serves would otherwise ship them. `mayfly build` puts them into what uses them.
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
