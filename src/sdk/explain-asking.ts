/** Says why a server of an official SDK cannot ask its client: the SDK's own error blames the client. */
import { isA, textOf } from '../definition/error-text.ts'

const REASON =
  'Over this server no client can be asked: it answers each request by itself, without a session that says what the client supports.'

const ASKING = ['elicitInput', 'createMessage', 'listRoots'] as const

type Ask = (...given: unknown[]) => Promise<unknown>

/** Replaces the methods of one server, an `McpServer` or the `Server` in it. */
export function explainAsking(server: object): void {
  const { server: inner = server } = server as { server?: object }
  const methods = inner as { [name in (typeof ASKING)[number]]?: Ask }
  for (const name of ASKING) {
    const ask = methods[name]
    if (typeof ask !== 'function') continue
    methods[name] = async (...given) => {
      try {
        return await ask.apply(inner, given)
      } catch (error) {
        if (!isA(error, Error) || !textOf(error).startsWith('Client does not support')) throw error
        throw new Error(`${textOf(error)} ${REASON}`, { cause: error })
      }
    }
  }
}
