/**
 * The official SDKs' transports, which only those install who use them. By constants that bundlers do not follow: a program that only
 * serves would otherwise ship them. `mayfly build` puts them into what uses them.
 */
const STREAMABLE = '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
const SSE = '@modelcontextprotocol/sdk/server/sse.js'
const STDIO = '@modelcontextprotocol/server/stdio'

type Streamable = typeof import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js')
type Sse = typeof import('@modelcontextprotocol/sdk/server/sse.js')
type Stdio = typeof import('@modelcontextprotocol/server/stdio')

export const loadStreamable = (): Promise<Streamable> => import(STREAMABLE).catch(missing(STREAMABLE))
export const loadSse = (): Promise<Sse> => import(SSE).catch(missing(SSE))
export const loadStdio = (): Promise<Stdio> => import(STDIO).catch(missing(STDIO))

function missing(specifier: string) {
  return (cause: unknown): never => {
    const [scope, name] = specifier.split('/')
    const version = name === 'sdk' ? ' 1.25 or newer' : ''
    throw new Error(`This needs ${scope}/${name}${version}: npm install ${scope}/${name}`, { cause })
  }
}
